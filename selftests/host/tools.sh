#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Scripts parse and print usage; commands handle bad arguments and data.
# timeout: 2700
# quick: yes
. "$(dirname "$0")/../net/sstp/lib.sh"

cd "$(dirname "$0")/../.." || exit
export PYTHONDONTWRITEBYTECODE=1

parses() {
	case $(head -n 1 "$1") in
	*python3*) python3 -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' "$1" ;;
	*bash*|*/sh*)
		# Patterns that a script asks for must be known before it is read.
		if grep -qx 'shopt -s extglob' "$1"; then bash -O extglob -n "$1"; else bash -n "$1"; fi ;;
	esac
}
is_free_software() { grep -q 'SPDX-License-Identifier: GPL-2.0' "$1"; }
helps() { timeout 60 "$1" -h < /dev/null | grep -qi usage; }

while IFS= read -r file; do
	check "$file parses" parses "$file"
	check "$file names its licence" is_free_software "$file"
	case $file in
	tools/vm/guest|.ci/*|selftests/net/*|selftests/host/*) ;;
	*) check "$file -h" helps "$file" ;;
	esac
done < <(find tools selftests .ci net examples -type f -perm -100 | sort)
# One process for all: on a busy machine each takes a second.
package_parses() {
	find tools/python -name '*.py' -exec python3 -c 'import ast, sys
for name in sys.argv[1:]:
    with open(name) as f:
        text = f.read()
    ast.parse(text, name)
    assert "SPDX-License-Identifier: GPL-2.0" in text, name' {} +
}
check "the package parses, and names its licence" package_parses
no_path_edits() { ! grep -rnE 'sys\.path|[^a-z_.]eval\(|[^a-z_.]exec\(|runpy' tools/python; }
check "the package is imported by its name" no_path_edits

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# A directory with modules of the same names as Python's is nobody's to import from.
elsewhere() {
	mkdir "$work/odd" && echo 'raise SystemExit("odd")' > "$work/odd/argparse.py" &&
		ln -s "$PWD/tools/vm/run" "$work/odd/vm" && (cd "$work/odd" && ./vm -h > /dev/null)
}
check "commands start from any directory, and by a link" elsewhere

# What a benchmark's machine does first: copy the programs as they were built
bench_programs() {
	mkdir "$work/shm" && echo {} > "$work/job" &&
		make -s -C selftests/net/sstp "OUT=$work/bin" "$work/bin/xfer" &&
		PYTHONPATH=tools/python python3 -c 'import sys
from sstptools.bench import common
common.SHM = sys.argv[2]
common.read_job(sys.argv[1])' "$work/job" "$work/shm" && "$work/shm/xfer" -h
}
check "tools/bench starts its programs" bench_programs

# server_cell POLICY GOODPUT EXHAUSTION: as tools/bench/server measures one
server_cell() {
	echo '{"level": 2, "clients": 20, "limit": 0, "policy": "'"$1"'", "goodput": '"$2"',
	       "exhaustion": '"$3"', "discarded": 1, "jain": 1, "cost": 9, "memory": 1e6,
	       "mean": 1e6, "resized": 0}'
}
# server_json MORE GOODPUT EXHAUSTION: of rrda, beside 1e8 and 0.3 of static
server_json() {
	echo '{"kernel": "6.12", "source": "0", "seconds": 6, "shared": true, "work": false, "cells": ['"
		$(server_cell static 1e8 0.3), $(server_cell rrda "$2" "$3")$1]}" > "$work/server.json"
}
server_check() { server_json "" "$@" && tools/bench/server -c -f "$work/server.json"; }
refused() { ! "$@"; }
check "tools/bench/server -c is content with what is wanted" server_check 1.3e8 0.03
check "tools/bench/server -c finds too little goodput" refused server_check 1.29e8 0.03
check "tools/bench/server -c finds too much exhaustion" refused server_check 1.3e8 0.031

# contention_json QUEUE DISCARDS: as tools/bench/contention measures it at share 2/5, beside rrda
# with 1e6 bytes in the buffer and static 2.5, which discards a tenth
contention_cell() {
	echo '{"profile": "2/5", "rtt": 10, "flow": "'"$1"'", "seed": 0, "goodput": '"$2"',
	       "queue": '"$3"', "discards": '"$4"', "limit": 1e6, "peak": 1e6}'
}
contention_json() {
	echo '{"kernel": "6.12", "source": "0", "line": 200,
	       "calibration": {"line": 19e7, "busy": 5, "work": 37, "alone": 18e7}, "cells": ['"
		$(contention_cell rrda 8e7 1e6 0), $(contention_cell "static 2.5" 7e7 1e6 0.1),
		$(contention_cell paptc 8e7 "$1" "$2")]}" > "$work/contention.json"
}
contention_check() {
	contention_json "$@" && tools/bench/contention -c -f "$work/contention.json" > /dev/null
}
check "tools/bench/contention -c is content with what is wanted" contention_check 3.3e5 0.005
check "tools/bench/contention -c finds a long queue" refused contention_check 3.4e5 0.005
check "tools/bench/contention -c finds discards" refused contention_check 3.3e5 0.006
check "tools/bench/contention refuses a line that is too fast" refused tools/bench/contention -l 1001
check "tools/bench/contention refuses a chapter without calibration" \
	refused tools/bench/contention -w 37 -m "$work/contention.md"
other_source() {
	contention_json 3.3e5 0.005
	tools/bench/contention -r "$work/contention.json" 2>&1 | grep -x '.*: another source: 0'
}
check "tools/bench/contention refuses to resume what other sources began" other_source

# memory_check FLOORS KILLED: as tools/bench/memory measures it, limits of so many floors in
# all with memory full, and 640 before
memory_check() {
	local time=0 samples="" phase connections floors filled
	while IFS=: read -r phase connections floors filled; do
		samples+=${samples:+,}' {"time": '$((time += 3))', "phase": "'$phase'", "group": 6e7,
			"connections": '$connections', "limit": '$((floors << 16))', "queued": 0,
			"least": 65536, "most": '$((floors / connections << 16))',
			"bytes": 9, "filled": '$((filled << 20))'}'
	done <<-END
		5 send:5:50:0
		35 send:35:640:0
		memory is filled:35:$1:56
		memory is free:35:640:0
		5 send again:35:100:0
		none sends:35:35:0
		1000 are idle:1000:1000:0
	END
	echo '{"kernel": "6.12", "source": "0", "places": {"cgroup": {"samples": ['"$samples"'],
	       "result": {"most": 67108864, "fill": 58720256, "sent": 9, "received": 9,
	       "troubles": {"memory.events oom_kill": '"$2"'}}}}}' > "$work/memory.json"
	tools/bench/memory -c -f "$work/memory.json"
}
check "tools/bench/memory -c is content with what is wanted" memory_check 320 0
check "tools/bench/memory -c finds buffers that do not shrink" refused memory_check 321 0
check "tools/bench/memory -c finds that a process was killed" refused memory_check 320 1

# dump_check SEEN WATCHED: two dumps of 10001 sockets take 2e8 instructions, the transfer 1e9
dump_check() {
	local more='"dumps": 2, "seen": '"$1"', "watched": '"$2"
	echo '{"kernel": "6.12", "size": 1000000000, "dump": 1e8, "connections": 10001, "rounds":
	       [{"alone": 999e6, '"$more"'}, {"alone": 1001e6, '"$more"'}]}' > "$work/dump.json"
	tools/bench/dump -c -f "$work/dump.json"
}
check "tools/bench/dump -c is content with what is wanted" dump_check 20004 1209e6
check "tools/bench/dump -c finds that the data path loses" refused dump_check 20004 1211e6
check "tools/bench/dump -c finds too few connections" refused dump_check 20000 1209e6

# many_check USED SETUP: what 1000 connections of SSTP take; those of TCP take 9000 and 80000
many_check() {
	local cell='"connections": 1000, "idle": 9000, "used": '
	echo '{"kernel": "6.12", "source": "0", "cells": [
	       {"protocol": "sstp", '"$cell$1"', "setup": '"$2"'},
	       {"protocol": "tcp", '"$cell"'9000, "setup": 80000}]}' > "$work/many.json"
	tools/bench/many -c -f "$work/many.json" > "$work/shown"
}
check "tools/bench/many -c is content with what is wanted" many_check 9000 80000
check "tools/bench/many -c finds too much memory" refused many_check 9001 80000
check "tools/bench/many -c finds an expensive set-up" refused many_check 9000 80001
check "tools/bench/many shows all" grep -q "^| 1000 .* set-up, instructions | 80001  | 80000  | 1.00 " \
	"$work/shown"

# cpus_check INSTRUCTIONS: what 1000 bytes of SSTP take on two CPUs, and 1000 on one; those of TCP
# take a tenth more than on one
cpus_cell() {
	echo '{"size": 65536, "cpus": '"$1"', "protocol": "'"$2"'", "instructions": '"$3"',
	       "waiting": 20}'
}
cpus_check() {
	echo '{"kernel": "6.12", "source": "0", "flows": 16, "cells": ['"
		$(cpus_cell 1 sstp 1000), $(cpus_cell 1 tcp 900), $(cpus_cell 2 tcp 990),
		$(cpus_cell 2 sstp "$1")]," '"waits": [{"size": 65536, "cpus": 2, "protocol": "sstp",
		"flows": 16, "locks": [["lock_sock_nested", 168, 7]]}]}' > "$work/cpus.json"
	tools/bench/cpus -c -f "$work/cpus.json" > "$work/shown"
}
check "tools/bench/cpus -c is content with what is wanted" cpus_check 1100
check "tools/bench/cpus -c finds that CPUs wait for each other" refused cpus_check 1101
check "tools/bench/cpus shows all" grep -q "^| 64 KB .* sstp .* 1101 .* 20.0 .* 1.10 |" "$work/shown"
check "tools/bench/cpus shows waits for locks" grep -q \
	"^| 64 KB .* sstp .* lock_sock_nested .* 2.00 .* 7 " "$work/shown"
check "tools/bench/cpus refuses too many CPUs" refused tools/bench/cpus -C 9

# links_check INSTRUCTIONS: what a byte of SSTP takes over VXLAN, where TCP takes 1.2; over veth both
# take 1
links_check() {
	echo '{"kernel": "6.12", "source": "0", "cells": ['"
		$(separator=
		for cell in "veth sstp 1" "veth tcp 1" "VXLAN sstp $1" "VXLAN tcp 1.2"; do
			# shellcheck disable=SC2086 # words
			printf '%s{"link": "%s", "protocol": "%s", "instructions_per_byte": %s}' \
				"$separator" $cell
			separator=,
		done)]}" > "$work/links.json"
	tools/bench/links -c -f "$work/links.json" > "$work/shown"
}
check "tools/bench/links -c is content with what is wanted" links_check 1.4
check "tools/bench/links -c finds a link that SSTP suits less" refused links_check 1.51
check "tools/bench/links shows all" grep -q "^| VXLAN .* 1.510 .* 1.200 .* 0.79 .* 0.79 " \
	"$work/shown"
check "tools/bench/links refuses an unknown link" refused tools/bench/links -l none

# cost_json: as tools/bench/cost --paper -r 3 measures it: TCP 1, SSTP 2, 3 a byte with reports
cost_json() {
	PYTHONPATH=tools/python python3 -c 'import argparse, json
from sstptools.bench import cost
cells = cost.wanted_cells(argparse.Namespace(paper=True))
for c in cells:
    middle = 1 if c["protocol"] == "tcp-reno" else 3 if cost.ACK in c["protocol"] else 2
    c.update(instructions_per_byte=middle, all=[middle, middle * 1.01, middle * 0.99],
             packets=640, reports=10 if middle > 1 else 0, resent=0)
print(json.dumps({"kernel": "6.12", "source": "0", "repeat": 3, "cells": cells}))' \
		> "$work/cost.json"
}
cost_shows() {
	tools/bench/cost -f "$work/cost.json" > "$work/cost" && grep -q -- "$1" "$work/cost"
}
check "tools/bench/cost --paper has cells to measure" cost_json
check "tools/bench/cost -f shows bytes per instruction relative to TCP" \
	cost_shows ' 1500  64 KB     4 .* 1.000  (1.00) .* 2.000  (0.50)'
check "tools/bench/cost -f shows packets per report" \
	cost_shows 'SSTP, ACK after 8, 20 Mbit/s, 32 flows: 64.0$'
check "tools/bench/cost -f shows the range of repetitions" cost_shows 'at most 2.00%'
check "tools/bench/cost refuses no connection" refused tools/bench/cost -n 0
check "tools/bench/cost --paper chooses its cells" refused tools/bench/cost --paper -n 2

# where_json: an exchange of SSTP's and of TCP's; where_counts: what the plug-in of QEMU counted
where_json() {
	echo '{"kernel": "6.12", "cells": [
	 {"kind": "exchange", "mtu": 1500, "size": 1, "protocol": "sstp", "delay": "delay",
	  "packets": 2, "OutData": 2, "OutPacks": 0, "OutKeepalives": 0,
	  "functions": [["ACKs", "sstp_ack_pack", "[sstp]", 30], ["ACKs", "f", "", 12.5]]},
	 {"kind": "exchange", "mtu": 1500, "size": 1, "protocol": "tcp", "delay": "delay",
	  "packets": 2, "OutData": 0, "OutPacks": 0, "OutKeepalives": 0,
	  "functions": [["ACKs", "tcp_ack", "", 41]]}]}' > "$work/where.json"
	tools/bench/where -n 1 -f "$work/where.json" > "$work/where" &&
		grep -Eq -- "$1" "$work/where"
}
where_counts() {
	printf 'mark 0\nffffffff80000010 5\nmark 0\nffffffff80000010 7\nffffffff80000030 4\n' \
		> "$work/counts"
	printf 'ffffffff80000018 9\nmark 0\n400000 9\n' >> "$work/counts"
	PYTHONPATH=tools/python python3 -c 'import sys
from sstptools.bench.where import Symbols, read_counts
symbols = Symbols([["ffffffff80000010", "tcp_ack"], ["ffffffff80000020", "sstp_push", "[sstp]"],
                   ["ffffffff80000000", "udp_rcv"]], {"sstp_push": "output"})
assert [symbols.sums(one) for one in read_counts(sys.argv[1])] == [
    {("ACKs", "tcp_ack", ""): 5},
    {("ACKs", "tcp_ack", ""): 16, ("headers, trains", "sstp_push", "[sstp]"): 4},
    {("programs", "(programs)", ""): 9}]' "$work/counts"
}
check "tools/bench/where -f shows layers side by side" where_json '^ACKs +42\.5 +41\.0$'
check "tools/bench/where -f shows functions" where_json '^ +30\.0  ACKs +sstp_ack_pack \[sstp\]$'
check "tools/bench/where counts by function and mark" where_counts

# requests_json: nginx by SSTP as fast as by TCP, whose client waited; redis at a half
requests_json() {
	python3 -c 'import json
def cell(protocol, instructions, **more):
    return {"program": "nginx", "request": "1 KB", "connections": 50, "depth": 1, "time": 1e4,
            "protocol": protocol, "instructions": instructions, "packets": 2, "switches": 3,
            "functions": [["ACKs", protocol + "_ack", "", instructions / 10]], **more}
redis = {"program": "redis", "request": "get", "connections": 1}
print(json.dumps({"kernel": "6.12", "source": "0", "versions": {"redis": "7"}, "cells": [
    cell("tcp", 10000, time=2e4), cell("sstp", 10000),
    cell("tcp", 10000, **redis), cell("sstp", 20000, **redis)]}))' > "$work/requests.json"
}
requests_show() {
	tools/bench/requests -w 1 -f "$work/requests.json" > "$work/requests" 2>&1 &&
		grep -qx -- "$1" "$work/requests"
}
# The lowest ratio comes first.
requests_order() {
	[ "$(awk -F ' *[|] *' 'NR > 2 && NF > 9 { print $(2), $(6), $(7), $(8) }' "$work/requests" | xargs)" = \
	  "redis 0.50 50000 100000 nginx 1.00 100000 100000" ]
}
requests_clients() {
	PYTHONPATH=tools/python python3 -c 'from sstptools.bench.requests import took
assert took({"program": "redis"}, "GET: 2000.00 requests per second, p50=1 msec", 10) == 5e6
assert took({"program": "nginx"}, "x\nTime taken for tests:   0.183 seconds\n", 10) == 183e6
assert took({"program": "memcached"}, """Time to set   9 keys:  0.5 seconds.
Time to start    1 threads: 9.0 seconds.
Time to get   9 keys by   1 threads:  0.25 seconds.
Time total:      9.0 seconds.
""", 18) == 75e7'
}
requests_json
check "tools/bench/requests -w shows functions that differ" \
	requests_show ' *2000.0        0.0  ACKs             sstp_ack'
check "tools/bench/requests shows the lowest ratio first" requests_order
check "tools/bench/requests says that both ends waited" requests_show \
	'requests: both ends waited: nginx, 1 KB, 50 connections, tcp: 20.0 us a request, .* 10.0 us'
check "tools/bench/requests reads what clients print" requests_clients
check "tools/bench/requests has no such cell" refused tools/bench/requests -q -n 50

# Semicolons in functions: not of comments, strings, structures, tables or macros
statements_count() {
	PYTHONPATH=tools/python python3 -c 'from sstptools.bench.statements import functions
assert functions("""#define A(x) do { x; } while (0)
struct s { int a; int b; };
static int f(struct s *s)
{
	char c = \x27;\x27, *t = ";{"; /* ; } */

	for (;;) {
		t++; // ;
	}
	return 0;
}
static struct s t = { 1, 2 };
void g(void) { }
""") == {"f": 5, "g": 0}'
}
statements_json() {
	tools/bench/statements -j "$work/statements.json" -m "$work/statements.md" \
		> "$work/shown" && grep -q '^| TCP .*| 28 ' "$work/shown" &&
		python3 -c 'import json, sys
assert all(r["with_info"] >= r["statements"] > 0 for r in json.load(open(sys.argv[1])))' \
			"$work/statements.json" && grep -q '^| FAST TCP ' "$work/statements.md"
}
# Tables 1 to 4 of the paper on UDT/CCC, and GTP, by one command
paper_tables() {
	make -n evaluation-ccc > "$work/tables" &&
		grep -q '^tools/lab/report controllers gtp' "$work/tables" &&
		grep -q '^tools/bench/cost --paper .*/evaluation/flows.md' "$work/tables" &&
		grep -q '^tools/bench/statements .*/evaluation/statements.md' "$work/tables"
}
check "make evaluation-ccc makes all tables of a paper" paper_tables
check "tools/bench/statements counts semicolons of functions" statements_count
check "tools/bench/statements writes its table" statements_json

# A model forecasts a periodic share, and is chosen; a recorded program that reads evenly is
# forecast exactly.
forecast_pays() {
	for ((ms = 10; ms <= 1200; ms += 10)); do echo "$((ms * 1000 - 1)) 1000"; done \
		> "$work/even"
	tools/bench/forecast -s 10 -j "$work/forecast.json" > "$work/shown" &&
		tools/bench/forecast -d 10 -a 1 "$work/even" -j "$work/even.json" > /dev/null &&
		python3 -c 'import json, sys
rows = {(r["series"], r["delta_ms"], r["steps"]): r["error"] for r in json.load(open(sys.argv[1]))}
e = rows["periodic", 10, 1]
assert e["chosen"] <= 0.8 * min(e["last"], e["average"]), e
assert abs(e["floating"] / e["AR(8), 64"] - 1) < 0.004, e
even, = json.load(open(sys.argv[2]))
assert even["error"]["chosen"] == 0, even' "$work/forecast.json" "$work/even.json"
}
forecast_refuses() {
	echo "1000 x" > "$work/bad"
	refused tools/bench/forecast "$work/bad" && refused tools/bench/forecast -a 17
}
check "tools/bench/forecast shows that a model pays for a periodic share" forecast_pays
check "tools/bench/forecast refuses what is no trace" forecast_refuses

# drawing COMMAND TEXT
drawing() { "tools/bench/$1" -f "$work/$1.json" -m "$work/$1.md" &&
	    grep -q "($1.svg)" "$work/$1.md" && grep -q '<svg' "$work/$1.svg" &&
	    grep -q "$2" "$work/$1.md"; }
draw_cost() {
	tools/bench/cost --paper -f "$work/cost.json" --markdown "$work/cost.md" > /dev/null &&
		grep -q '^| 32 .*| 128 .*| 64.0 .*| 1.00 .*| 64.0 .*| 0.74 ' "$work/cost.md" &&
		grep -q '(cost.svg)' "$work/cost.md" && grep -q '<svg' "$work/cost.svg"
}
draw_parts() { server_json ", $(server_cell "no EMA" 1 1)" 1.3e8 0.03 && drawing server "no EMA"; }
draw_possible() {
	contention_json 3.3e5 0.005 &&
		sed -i 's/"rrda"/"udt"/; s/"rtt": 10/"rtt": 0.2/' "$work/contention.json" &&
		drawing contention "^| 2/5 .*| 86.5 .*| 80.0 .*| 1.081 "
}
if /usr/bin/python3 -c 'import matplotlib' 2> /dev/null; then
	check "tools/bench/server -m writes and draws" drawing server RRDA
	check "tools/bench/server -m of RRDA in parts" draw_parts
	check "tools/bench/memory -m writes and draws" drawing memory idle
	check "tools/bench/contention -m writes and draws" drawing contention "static 2.5"
	check "tools/bench/contention -m tells what is possible" draw_possible
	check "tools/bench/requests -m writes and draws" drawing requests "1 connection: 0.50"
	check "tools/bench/cost --paper --markdown writes and draws" draw_cost
else
	skip "tools/bench/... -m writes and draws" "matplotlib is not installed"
fi

make -s -C tools/sstp-run "OUT=$work/run" || exit
run=$work/run/sstp-run
status_is() { local want=$1; shift; "$@"; [ $? = "$want" ]; }
for rate in 5x 5g 1M: :5M 1M:2M:3:4:5 -1 0 ''; do
	check "sstp-run --rate '$rate' is refused" status_is 125 "$run" --rate "$rate" true
done
for rate in 950M 1.5G:1000000k 20M:10M:500:30; do
	check "sstp-run --rate $rate" "$run" --rate "$rate" true
done
check "sstp-run gives the program's status" status_is 7 "$run" sh -c 'exit 7'
check "sstp-run of nothing" status_is 127 "$run" /nonexistent
check "sstp-run without a program" status_is 125 "$run"

command_installed() {
	make -s -C tools/sstp "OUT=$work/sstp" "DESTDIR=$work/root" prefix=/usr install &&
		"$work/root/usr/bin/sstp" -h | grep -qi usage &&
		test -f "$work/root/usr/share/man/man8/sstp.8" &&
		bash -n "$work/root/usr/share/bash-completion/completions/sstp"
}
# Malformed answers of the kernel, and JSON of names that have quotes
command_replies() {
	local build=(gcc -std=gnu17 -D_GNU_SOURCE -Iinclude/uapi -Itools/sstp -g -fsanitize=address)
	local sources
	# nobpf.c is in place of bpf.c and elf.c, which need libbpf.
	mapfile -t sources < <(ls tools/sstp/*.c | grep -v '/\(main\|stat\|bpf\|elf\)\.c$')
	"${build[@]}" -Dmain=unused -c tools/sstp/main.c -o "$work/main.o" &&
		"${build[@]}" -o "$work/replies" selftests/host/replies.c "${sources[@]}" \
			"$work/main.o" -lmnl -lm &&
		"$work/replies" > "$work/replies.json" &&
		python3 -c 'import json, sys; json.load(sys.stdin)' < "$work/replies.json"
}
# A sample as sstp trace writes it, $1 seconds after the first
look() {
	echo '{"time": '"$1"', "local_addr": "::1", "local_port": 1, "remote_addr": "::1",
	      "remote_port": 2, "info": {"rate": {"peak": 1, "average": 0}, "bytes_sent": '"$1"',
	      "bytes_retrans": 0, "bytes_acked": 0, "bytes_received": 0, "in_flight": 1,
	      "cwnd": 4294967295, "snd_window": 1, "rcv_window": 1, "rcv_buffer": 1,
	      "rcv_queued": 0, "snd_queued": 1, "rtt": 10, "rtt_min": 9}}' | tr -d '\n'
	echo
}
completes() {
	bash -c '. tools/sstp/completion; COMP_WORDS=('"$1"') COMP_CWORD='"$2"'; _sstp
		 echo "${COMPREPLY[*]}"' | grep -qw -- "$3"
}
check "sstp is installed" command_installed
check "sstp reads no more of an answer than it has" command_replies
sstp=$work/root/usr/bin/sstp
helps_to() { "$sstp" "$1" -h | grep -q "^Usage: sstp $1"; }
for command in show stat monitor set top trace plot; do
	check "sstp $command -h" helps_to "$command"
done
check "sstp of an unknown command" status_is 2 "$sstp" nothing
check "sstp plot of nothing" status_is 2 "$sstp" plot
check "sstp plot of what is not there" status_is 1 "$sstp" plot "$work/nothing"
look 0 > "$work/trace"
check "sstp plot of one sample" status_is 1 "$sstp" plot "$work/trace"
look 1 >> "$work/trace"
printf '{"time": 2, "in' >> "$work/trace"
draw_trace() {
	"$sstp" plot "$work/trace" && grep -q '<svg' "$work/trace.svg" &&
		"$sstp" plot "$work/trace" -o "$work/trace.png" &&
		[ "$(head -c 4 "$work/trace.png" | tail -c 3)" = PNG ]
}
# no_trace LINE: a file with LINE is refused with one message that has the line number.
no_trace() {
	{ look 0; printf '%b\n' "$1"; look 2; } > "$work/bad"
	"$sstp" plot "$work/bad" 2> "$work/bad.err"
	[ $? = 1 ] && [ "$(wc -l < "$work/bad.err")" = 1 ] && grep -q "line 2 is" "$work/bad.err"
}
check "sstp plot of what is not UTF-8" no_trace '\xff'
check "sstp plot of a sample without numbers" no_trace '{"time": 1, "info": {}}'
check "sstp plot of a sample without addresses" no_trace "$(look 1 | sed 's/local_addr/x/')"
check "sstp plot of words for numbers" no_trace "$(look 1 | sed 's/"rtt": 10/"rtt": "long"/')"
check "sstp plot of brackets without end" no_trace "$(printf '[%.0s' {1..100000})"
dash() { cd "$work" && cp trace ./-dash && "$sstp" plot -- -dash && [ -s ./-dash.svg ]; }
if /usr/bin/python3 -c 'import matplotlib' 2> /dev/null; then
	check "sstp plot of a file -..." dash
	check "sstp plot draws, from where it is installed" draw_trace
else
	skip "sstp plot of a file -..." "matplotlib is not installed"
	skip "sstp plot draws, from where it is installed" "matplotlib is not installed"
fi
check "completion of a command" completes "sstp tr" 1 trace
check "completion of an option" completes "sstp show -" 2 -m
check "completion of a state" completes "sstp show state estab" 3 established
check "completion of a change" completes "sstp set abcd policy.ceil" 3 policy.ceiling

# Cross traffic of the lab: what the generator draws from its seed
make -s -C selftests/net/sstp "OUT=$work/bin" "$work/bin/cross" "$work/bin/backlog" || exit
draws() { "$work/bin/cross" "$@" 127.0.0.1 1; }
seeded() {
	draws "$1" -r 5e7 -S 3 -P 20000 > "$work/draw" &&
		draws "$1" -r 5e7 -S 3 -P 20000 | cmp - "$work/draw" &&
		! draws "$1" -r 5e7 -S 4 -P 20000 | cmp -s - "$work/draw"
}
# udp_mean RATE: four million packets, in order. At 3 Mbit/s a source is on for less time than it
# has between two packets.
udp_mean() {
	draws udp -r "$1" -P 4000000 | awk -v rate="$1" '
		{ bits += 8 * $2; back += $1 < last; last = $1 }
		END { mean = bits / last / rate; print mean; exit back || mean < 0.97 || mean > 1.03 }'
}
# The variance of the rate falls slower from 100 ms to 1 s than by the factor 0.15 that it would
# if on and off times were exponential.
udp_bursts() {
	draws udp -r 420e6 -P 2000000 | awk '
		{ short[int($1 / 0.1)]++; long[int($1)]++; last = $1 }
		function spread(n, bins,   i, sum, squares) {
			for (i = 0; i < bins; i++) {
				sum += n[i]; squares += n[i] ^ 2
			}
			return bins * squares / sum ^ 2 - 1
		}
		END {
			ratio = spread(long, int(last)) / spread(short, int(last / 0.1))
			print ratio; exit ratio < 0.25 || ratio > 1
		}'
}
# 200,000 flows: sizes within their bounds with the mean of a bounded Pareto distribution; the
# times between are exponential, whose standard deviation is the mean
flow_sizes() {
	draws flows -r 420e6 -P 200000 | awk -v a=1.5 -v l=10000 -v m=10000000 '
		function off(x) { return x < 0.98 || x > 1.02 }
		{ sum += $2; bad += $2 < l || $2 > m; gap = $1 - last; last = $1; squares += gap * gap }
		END {
			want = a * l ^ a / (1 - (l / m) ^ a) * (l ^ (1 - a) - m ^ (1 - a)) / (a - 1)
			mean = last / NR; size = sum / NR / want
			rate = sum * 8 * 1514 / 1448 / last / 420e6
			deviation = sqrt(squares / NR - mean * mean) / mean
			print bad + 0, size, rate, deviation
			exit bad || off(size) || off(rate) || off(deviation)
		}'
}
for kind in udp flows; do
	check "cross $kind: a seed has its packets" seeded "$kind"
done
for rate in 420e6 3e6; do
	check "cross udp has the mean rate of $rate" udp_mean "$rate"
done
check "cross udp has bursts of all lengths" udp_bursts
check "cross flows have their sizes and times" flow_sizes
check "cross -h" eval '"$work/bin/cross" -h | grep -q ^Usage'
check "cross without a rate" status_is 1 draws udp
check "cross of a rate with a letter" status_is 1 draws udp -r 50M
check "cross of an unknown kind" status_is 2 draws none
check "backlog -h" eval '"$work/bin/backlog" -h | grep -q ^Usage'
check "backlog of no device" status_is 1 "$work/bin/backlog" none 10

# An unknown kernel is only reported after the command line was parsed.
check "tools/vm/run of a command with options" status_is 97 tools/vm/run -k no sh -c true -k
check "tools/vm/run of a command behind --" status_is 97 tools/vm/run -k no -- sh -c true
check "tools/vm/run of nothing" status_is 2 tools/vm/run --timeout 1
check "tools/vm/run of simulated time with several CPUs" status_is 2 \
	tools/vm/run -k debug-smp --time-travel true

vectors() { net/sstp/tests/rrda_reference.py | cmp - net/sstp/tests/rrda_vectors.h; }
check "rrda_vectors.h is what rrda_reference.py writes" vectors
highspeed() { net/sstp/tests/highspeed_table.py | cmp - net/sstp/ctrl_highspeed_table.h; }
check "ctrl_highspeed_table.h is what highspeed_table.py writes" highspeed
ar_vectors() { tools/bench/forecast --vectors | cmp - net/sstp/tests/ar_vectors.h; }
check "ar_vectors.h is what tools/bench/forecast writes" ar_vectors
exactly() { net/sstp/tests/"$1"_reference.py | cmp - "net/sstp/tests/$1_vectors.h"; }
for suite in udt gtp; do
	check "${suite}_vectors.h is what ${suite}_reference.py writes" exactly "$suite"
done
finish
