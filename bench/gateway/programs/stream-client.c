// A client of event streams: one thread, epoll. wrk measures whole answers; this also measures when events come.
//
//   stream-client PORT CONNECTIONS SECONDS ONCE REQUEST_FILE
//
// Sends the bytes of REQUEST_FILE to 127.0.0.1 over each connection and reads the answer, repeatedly for SECONDS. What is in
// flight then is read to its end, within DRAIN_NS, and counted in `whole` only. With ONCE (1 instead of 0) each connection
// sends one request, the starts are spread over a second, and the program ends with the last answer, or after SECONDS. Prints one line of JSON; times are in microseconds, from the write of a request to its first
// event and to its end, and from the time that an event contains (see event-provider.c) to its arrival.

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

#define MAX_US 10000000
#define LINE_BYTES 4096
#define HEAD_BYTES 16384
#define DRAIN_NS 5000000000u

enum state { IDLE, HEAD, CHUNK_SIZE, CHUNK, CHUNK_END, LENGTH, LAST };

struct connection {
  int descriptor;
  enum state state;
  int status, closes, used, first_seen, asked;
  long left;
  uint64_t sent_at;
  char head[HEAD_BYTES];
  int line_used;
  char line[LINE_BYTES];
};

struct times {
  uint32_t *buckets;
  uint64_t count;
};

static struct times whole, first, late;
static uint64_t answers, failed, cut;
static int epoll_descriptor, port, once, request_bytes, finished, stopping;
static char *request;
static struct connection *connections;

static uint64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void add(struct times *times, uint64_t ns) {
  uint64_t us = ns / 1000;
  times->buckets[us < MAX_US ? us : MAX_US - 1] += 1;
  times->count += 1;
}

static double at(const struct times *times, double share) {
  uint64_t wanted = (uint64_t)((double)times->count * share), seen = 0;
  if (times->count == 0) return 0;
  for (int us = 0; us < MAX_US; us += 1) {
    seen += times->buckets[us];
    if (seen > wanted) return us;
  }
  return MAX_US;
}

static void open_connection(struct connection *connection) {
  connection->descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons((uint16_t)port)};
  if (connect(connection->descriptor, (struct sockaddr *)&address, sizeof address) < 0) {
    perror("stream-client");
    exit(1);
  }
  int on = 1;
  setsockopt(connection->descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  fcntl(connection->descriptor, F_SETFL, O_NONBLOCK);
  struct epoll_event interest = {.events = EPOLLIN, .data.ptr = connection};
  epoll_ctl(epoll_descriptor, EPOLL_CTL_ADD, connection->descriptor, &interest);
  connection->state = IDLE;
}

static void ask(struct connection *connection) {
  connection->state = HEAD;
  connection->used = connection->line_used = connection->first_seen = connection->closes = 0;
  connection->asked = 1;
  connection->sent_at = now_ns();
  // A request is far smaller than the socket's buffer.
  if (send(connection->descriptor, request, (size_t)request_bytes, MSG_NOSIGNAL) != request_bytes) connection->closes = 1;
}

static void take_event(struct connection *connection, uint64_t now) {
  if (!connection->first_seen) {
    connection->first_seen = 1;
    add(&first, now - connection->sent_at);
  }
  char *stamp = strstr(connection->line, "\"content\":\"t");
  if (!stamp) return;
  uint64_t written = strtoull(stamp + 12, NULL, 10);
  if (written > 0 && written < now) add(&late, now - written);
}

static void take_body(struct connection *connection, const char *bytes, long count, uint64_t now) {
  for (long index = 0; index < count; index += 1) {
    if (bytes[index] != '\n') {
      if (connection->line_used < LINE_BYTES - 1) connection->line[connection->line_used++] = bytes[index];
      continue;
    }
    connection->line[connection->line_used] = 0;
    if (strncmp(connection->line, "data:", 5) == 0) take_event(connection, now);
    connection->line_used = 0;
  }
}

static void restart(struct connection *connection) {
  if (connection->closes) {
    close(connection->descriptor);
    open_connection(connection);
  }
  if (once || stopping) {
    connection->state = IDLE;
    finished += 1;
  } else {
    ask(connection);
  }
}

static void end_answer(struct connection *connection, uint64_t now) {
  answers += 1;
  if (connection->status != 200) failed += 1;
  add(&whole, now - connection->sent_at);
  restart(connection);
}

static void read_head(struct connection *connection) {
  connection->head[connection->used] = 0;
  connection->status = atoi(connection->head + 9);
  connection->closes = strcasestr(connection->head, "\r\nconnection: close") != NULL;
  char *length = strcasestr(connection->head, "\r\ncontent-length:");
  connection->left = length ? atol(length + 17) : 0;
  connection->state = strcasestr(connection->head, "\r\ntransfer-encoding: chunked") ? CHUNK_SIZE : LENGTH;
  connection->used = 0;
}

// Returns 1 when the answer is complete.
static int take_bytes(struct connection *connection, const char *bytes, long count, uint64_t now) {
  long index = 0;
  while (index < count) {
    if (connection->state == HEAD) {
      if (connection->used == HEAD_BYTES - 1) return -1;
      connection->head[connection->used++] = bytes[index++];
      if (connection->used >= 4 && memcmp(connection->head + connection->used - 4, "\r\n\r\n", 4) == 0) {
        read_head(connection);
        if (connection->state == LENGTH && connection->left == 0) return 1;
      }
    } else if (connection->state == CHUNK_SIZE || connection->state == LAST || connection->state == CHUNK_END) {
      if (connection->used == HEAD_BYTES - 1) return -1;
      char byte = bytes[index++];
      connection->head[connection->used++] = byte;
      if (byte != '\n') continue;
      int line_bytes = connection->used;
      connection->head[line_bytes] = 0;
      connection->used = 0;
      if (connection->state == LAST) return 1;
      if (connection->state == CHUNK_END) {
        connection->state = CHUNK_SIZE;
        continue;
      }
      connection->left = strtol(connection->head, NULL, 16);
      connection->state = connection->left == 0 ? LAST : CHUNK;
    } else {
      long take = count - index < connection->left ? count - index : connection->left;
      take_body(connection, bytes + index, take, now);
      index += take;
      connection->left -= take;
      if (connection->left > 0) continue;
      if (connection->state == LENGTH) return 1;
      connection->state = CHUNK_END;
    }
  }
  return 0;
}

static void receive(struct connection *connection) {
  static char buffer[65536];
  ssize_t count = recv(connection->descriptor, buffer, sizeof buffer, 0);
  if (count < 0 && errno == EAGAIN) return;
  uint64_t now = now_ns();
  int result = count <= 0 || connection->state == IDLE ? -1 : take_bytes(connection, buffer, count, now);
  if (result > 0) end_answer(connection, now);
  if (result >= 0) return;
  if (connection->state != IDLE) {
    cut += 1;
    connection->closes = 1;
    restart(connection);
    return;
  }
  close(connection->descriptor);
  if (!once || !connection->asked) open_connection(connection);
}

static void allocate(struct times *times) { times->buckets = calloc(MAX_US, sizeof(uint32_t)); }

int main(int count, char **arguments) {
  if (count != 6) {
    fprintf(stderr, "usage: stream-client PORT CONNECTIONS SECONDS ONCE REQUEST_FILE\n");
    return 2;
  }
  port = atoi(arguments[1]);
  int many = atoi(arguments[2]);
  double seconds = atof(arguments[3]);
  once = atoi(arguments[4]);
  request = malloc(65536);
  FILE *file = fopen(arguments[5], "rb");
  if (!file) {
    perror(arguments[5]);
    return 1;
  }
  request_bytes = (int)fread(request, 1, 65536, file);
  fclose(file);
  signal(SIGPIPE, SIG_IGN);
  allocate(&whole);
  allocate(&first);
  allocate(&late);
  epoll_descriptor = epoll_create1(EPOLL_CLOEXEC);
  connections = calloc((size_t)many, sizeof *connections);
  for (int index = 0; index < many; index += 1) open_connection(&connections[index]);
  uint64_t started = now_ns(), end = started + (uint64_t)(seconds * 1e9), now = started;
  struct epoll_event ready[256];
  int asked = 0;
  while (now < end && (!once || finished < many)) {
    int wanted = once ? (int)((double)(now - started) / 1e9 * many) + 1 : many;
    for (; asked < wanted && asked < many; asked += 1) ask(&connections[asked]);
    int found = epoll_wait(epoll_descriptor, ready, 256, once ? 1 : 10);
    for (int index = 0; index < found; index += 1) receive(ready[index].data.ptr);
    now = now_ns();
  }
  uint64_t in_time = answers, took = now - started;
  stopping = 1;
  while (!once && now < end + DRAIN_NS && finished < many) {
    int found = epoll_wait(epoll_descriptor, ready, 256, 10);
    for (int index = 0; index < found; index += 1) receive(ready[index].data.ptr);
    now = now_ns();
  }
  printf("{\"answers\":%llu,\"whole\":%llu,\"failed\":%llu,\"cut\":%llu,\"seconds\":%.4f,\"p50\":%.0f,\"p99\":%.0f,\"firstP50\":%.0f,"
         "\"firstP99\":%.0f,\"events\":%llu,\"eventP50\":%.0f,\"eventP99\":%.0f}\n",
         (unsigned long long)in_time, (unsigned long long)answers, (unsigned long long)failed, (unsigned long long)cut,
         (double)took / 1e9,
         at(&whole, 0.5), at(&whole, 0.99), at(&first, 0.5), at(&first, 0.99), (unsigned long long)late.count,
         at(&late, 0.5), at(&late, 0.99));
  return 0;
}
