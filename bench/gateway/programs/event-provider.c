// A provider that streams: one thread, epoll, no parsing beyond the length of a request.
//
//   event-provider EVENTS INTERVAL_US PER_WRITE
//
// Prints the port that it listens on. Answers every POST with EVENTS chat completion chunks, one that finishes, one with the
// usage, and [DONE]. The first event is a write of its own; the others are written PER_WRITE at a time: at once with an
// interval of 0, otherwise one write per interval. The content of an event is the monotonic time at which it was written, so
// that a client on this machine can measure how long it took.

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MAX_DESCRIPTORS 65536
#define REQUEST_BYTES 65536
#define MAX_PER_WRITE 16

struct connection {
  int open;
  int used;           // bytes of the request that have come
  int events_sent;    // or about to be; -1 while no answer is written
  int started;        // whether the head of the answer is written
  int unsent, offset; // the rest of an event that the socket did not take
  uint64_t due;
  char *request;
  char unsent_bytes[MAX_PER_WRITE * 256 + 256];
};

static struct connection *connections[MAX_DESCRIPTORS];
static int epoll_descriptor, event_count, highest_descriptor, per_write;
static uint64_t interval_ns;

static uint64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void end_connection(int descriptor) {
  struct connection *connection = connections[descriptor];
  close(descriptor);
  free(connection->request);
  free(connection);
  connections[descriptor] = NULL;
}

// The length of the first whole request of the buffer, or 0.
static int request_length(struct connection *connection) {
  connection->request[connection->used] = 0;
  char *end = strstr(connection->request, "\r\n\r\n");
  if (!end) return 0;
  int head = (int)(end - connection->request) + 4;
  char *field = strcasestr(connection->request, "\r\ncontent-length:");
  int body = field && field < end ? atoi(field + 17) : 0;
  if (!field || field > end) {
    // A chunked body ends with an empty chunk.
    char *coding = strcasestr(connection->request, "\r\ntransfer-encoding:");
    if (coding && coding < end) {
      char *last = strstr(end + 2, "\r\n0\r\n\r\n");
      if (!last) return 0;
      return (int)(last - connection->request) + 7;
    }
  }
  return connection->used >= head + body ? head + body : 0;
}

static int append_event(char *into, int number) {
  char event[512];
  const char *start = "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[";
  if (number < event_count) {
    snprintf(event, sizeof event, "%s{\"index\":0,\"delta\":{\"content\":\"t%llu \"},\"finish_reason\":null}]}\n\n", start,
             (unsigned long long)now_ns());
  } else if (number == event_count) {
    snprintf(event, sizeof event, "%s{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n", start);
  } else if (number == event_count + 1) {
    snprintf(event, sizeof event, "%s],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":%d,\"total_tokens\":%d}}\n\n", start,
             event_count, event_count + 9);
  } else {
    strcpy(event, "data: [DONE]\n\n");
  }
  return sprintf(into, "%zx\r\n%s\r\n", strlen(event), event);
}

// Writes the next piece of the answer. Returns 0 when the socket takes no more, -1 when it is broken.
static int write_piece(int descriptor, struct connection *connection) {
  char *piece = connection->unsent_bytes;
  if (connection->unsent == 0) {
    int length = 0, many = connection->started ? per_write : 1;
    if (!connection->started) {
      length = sprintf(piece, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\n"
                              "Transfer-Encoding: chunked\r\n\r\n");
      connection->started = 1;
    }
    for (; many > 0 && connection->events_sent < event_count + 3; many -= 1) {
      length += append_event(piece + length, connection->events_sent);
      connection->events_sent += 1;
    }
    if (connection->events_sent == event_count + 3) length += sprintf(piece + length, "0\r\n\r\n");
    connection->unsent = length;
    connection->offset = 0;
  }
  ssize_t sent = send(descriptor, piece + connection->offset, (size_t)connection->unsent, MSG_NOSIGNAL);
  if (sent < 0) return errno == EAGAIN ? 0 : -1;
  connection->offset += (int)sent;
  connection->unsent -= (int)sent;
  return connection->unsent == 0;
}

// Writes what is due. Returns -1 when the connection has ended.
static int proceed(int descriptor, struct connection *connection) {
  while (connection->events_sent >= 0) {
    // The last three events come with the last one that has content.
    int waits = interval_ns > 0 && connection->events_sent < event_count && connection->unsent == 0;
    if (waits && now_ns() < connection->due) return 0;
    int result = write_piece(descriptor, connection);
    if (result < 0) return -1;
    struct epoll_event interest = {.events = EPOLLIN | (result == 0 ? EPOLLOUT : 0u), .data.fd = descriptor};
    if (result == 0) {
      epoll_ctl(epoll_descriptor, EPOLL_CTL_MOD, descriptor, &interest);
      return 0;
    }
    connection->due += interval_ns;
    if (connection->events_sent >= event_count + 3) {
      connection->events_sent = -1;
      connection->started = 0;
    }
  }
  return 0;
}

// Reads what has come and answers each whole request. Returns -1 when the connection has ended.
static int receive(int descriptor, struct connection *connection) {
  for (;;) {
    if (connection->used >= REQUEST_BYTES - 1) return -1;
    ssize_t count = recv(descriptor, connection->request + connection->used, (size_t)(REQUEST_BYTES - 1 - connection->used), 0);
    if (count == 0) return -1;
    if (count < 0) {
      if (errno != EAGAIN) return -1;
      break;
    }
    connection->used += (int)count;
    if (connection->used < REQUEST_BYTES - 1) break;
  }
  int length;
  while (connection->events_sent < 0 && (length = request_length(connection)) > 0) {
    memmove(connection->request, connection->request + length, (size_t)(connection->used - length));
    connection->used -= length;
    connection->events_sent = 0;
    connection->due = now_ns();
    if (proceed(descriptor, connection) < 0) return -1;
  }
  return 0;
}

static void accept_all(int listener) {
  for (;;) {
    int descriptor = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (descriptor < 0) return;
    if (descriptor >= MAX_DESCRIPTORS) {
      close(descriptor);
      continue;
    }
    int on = 1;
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    struct connection *connection = calloc(1, sizeof *connection);
    connection->request = malloc(REQUEST_BYTES);
    connection->events_sent = -1;
    connections[descriptor] = connection;
    if (descriptor > highest_descriptor) highest_descriptor = descriptor;
    struct epoll_event interest = {.events = EPOLLIN, .data.fd = descriptor};
    epoll_ctl(epoll_descriptor, EPOLL_CTL_ADD, descriptor, &interest);
  }
}

int main(int count, char **arguments) {
  if (count != 4) {
    fprintf(stderr, "usage: event-provider EVENTS INTERVAL_US PER_WRITE\n");
    return 2;
  }
  event_count = atoi(arguments[1]);
  interval_ns = (uint64_t)atoll(arguments[2]) * 1000u;
  per_write = atoi(arguments[3]);
  if (per_write < 1 || per_write > MAX_PER_WRITE) return 2;
  signal(SIGPIPE, SIG_IGN);
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  if (bind(listener, (struct sockaddr *)&address, size) < 0 || listen(listener, 4096) < 0) {
    perror("event-provider");
    return 1;
  }
  getsockname(listener, (struct sockaddr *)&address, &size);
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);
  epoll_descriptor = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event interest = {.events = EPOLLIN, .data.fd = listener};
  epoll_ctl(epoll_descriptor, EPOLL_CTL_ADD, listener, &interest);
  struct epoll_event ready[256];
  for (;;) {
    int many = epoll_wait(epoll_descriptor, ready, 256, interval_ns > 0 ? 1 : -1);
    for (int index = 0; index < many; index += 1) {
      int descriptor = ready[index].data.fd;
      if (descriptor == listener) {
        accept_all(listener);
        continue;
      }
      struct connection *connection = connections[descriptor];
      if (!connection) continue;
      int ended = 0;
      if (ready[index].events & EPOLLOUT) {
        struct epoll_event readable = {.events = EPOLLIN, .data.fd = descriptor};
        epoll_ctl(epoll_descriptor, EPOLL_CTL_MOD, descriptor, &readable);
        ended = proceed(descriptor, connection);
      }
      if (ended == 0 && (ready[index].events & (EPOLLIN | EPOLLHUP | EPOLLERR))) ended = receive(descriptor, connection);
      if (ended < 0) end_connection(descriptor);
    }
    if (interval_ns == 0) continue;
    for (int descriptor = 0; descriptor <= highest_descriptor; descriptor += 1) {
      struct connection *connection = connections[descriptor];
      if (connection && connection->events_sent >= 0 && proceed(descriptor, connection) < 0) end_connection(descriptor);
    }
  }
}
