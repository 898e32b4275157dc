// Compiles the code of `gatehouse start` and runs none of it: an import that fails comes first. What a process compiles takes 20 MB of
// memory until it ends, and in this one that is at once. The list has what the processes of a start load, besides what these files import.
import 'data:text/javascript,throw undefined';
import '../src/main.ts';
import '../src/config/config.ts';
import '../src/service/data-owner.ts';
import '../src/service/start-check.ts';
import '../src/service/start.ts';
import '@gatehouse/control-plane/catalogue-file';
import '../src/process/gateway-heap.ts';
import '../src/process/gateway-main.ts';
import '../../embedded/src/clickhouse/engine-main.ts';
