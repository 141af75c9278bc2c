#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The lab measures, draws and reports, and a rerun gives the same bytes.
# timeout: 2700
. "$(dirname "$0")/../net/sstp/lib.sh"

cd "$(dirname "$0")/../.." || exit
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

lab() { tools/lab/run --quick -o "$work/$1" "${@:2}" > "$work/log" 2>&1 || { sed 's/^/# /' "$work/log"; false; }; }
same() { cmp "$work/1/$1" "$work/2/$1"; }
# The depth of the directory that the guest writes to makes no difference.
deeper() {
	mkdir -p "$work/at/another/depth" && TMPDIR=$work/at/another/depth "$@"
}
numbers() { PYTHONPATH=tools/python python3 -B -c "$1"; }
# A run was stopped before its last cell.
forget() {
	python3 -c "import json, sys; d = json.load(open(sys.argv[1])); d['cells'].pop()
json.dump(d, open(sys.argv[1], 'w'))" "$work/$1/start.json" &&
	lab "$1" -f contract --resume start &&
	test "$(grep -c '(known)' "$work/log")" = $((cells - 1)) && grep -q '^1/1 ' "$work/log"
}
list=$(tools/lab/list)
listed() { grep -q "^$1 " <<< "$list"; }

for file in tools/lab/experiments/*.toml; do
	name=$(basename "$file" .toml)
	check "$name is listed" listed "$name"
done
check "throughput against the window is as wanted" lab 1 window
check "slow readers are as wanted" lab 1 readers
check "packets that are late are as wanted" lab 1 reorder
check "starts and outages are as wanted" lab 1 -j 1 -f contract start
check "segments are followed" lab 1 buffer
check "a line is shared" lab 1 sharing
check "controllers are beside the kernel's" lab 1 -f cubic controllers
check "a group shares a line as is wanted" lab 1 gtp
check "a line is shared with others" lab 1 -f "TCP bbr" -n 2 beside
check "flows start one after the other" lab 1 -f "TCP bbr" late
check "flows have round-trip times of their own" lab 1 -f "TCP bbr" rtts
check "harder paths are measured" lab 1 -f "TCP bbr" paths
check "a line with a shallow queue is shared" lab 1 shallow
check "short paths are measured" lab 1 near
check "paths with cross traffic are measured" lab 1 -f rrda sobas
check "what windows do is traced" lab 1 sobas_traces
check "programs that pause are read as wanted" lab 1 paptc
check "two seeds are measured" lab 1 -n 2 short
check "starts again" deeper lab 2 -f contract start
check "losses again" deeper lab 2 -j 1 window
for kind in json png svg; do
	check "start.$kind has the same bytes" same "start.$kind"
	check "window.$kind has the same bytes" same "window.$kind"
	for name in readers buffer sharing controllers gtp beside late rtts paths shallow near short \
		    sobas sobas_traces paptc; do
		check "$name.$kind is there" test -s "$work/1/$name.$kind"
	done
done
redrawn() {
	for _ in {1..8}; do tools/lab/plot -o "$work/1" start && same start.svg || return; done
}
check "start.svg has the same bytes each time it is drawn" redrawn
cells=$(grep -c '"measured"' "$work/1/start.json")
all=$(sed -n 's/^ "count": \(.*\),/\1/p' "$work/1/start.json")
check "a cell less, and the rest is resumed" forget 2
check "start.json has the same bytes then" same start.json
sources() { sed -n 's/^ *"source": //p' "$work/$1/start.json" | sort -u | wc -l; }
check "TCP is measured without the module" lab 2 -f cubic start
check "its results do not depend on the module" test "$(sources 1) $(sources 2)" = "1 2"
check "cells of other flows stay" test "$(grep -c '"measured"' "$work/2/start.json")" -gt "$cells"
check "the report is written" tools/lab/report -f "$work/1" -o "$work/report"
check "it has all" test "$(grep -c '^## ' "$work/report/README.md")" = 16
check "the means of two seeds" grep -q 'short`, 2 of 2 cells, .*, seed 1, 2 (means),' \
	"$work/report/README.md"
# Far flows have no path of 20 ms: the shortest round-trip time of each is its own.
far() {
	numbers "import json
cell = json.load(open('$work/1/rtts.json'))['cells'][-1]
near, far = (f['info']['tcpi_rtt'] for f in cell['measured']['flows'])
assert near >= 20000 and far >= 100000 and [f['rtt'] for f in cell['flows']] == [20, 100], (near, far)"
}
check "each flow has its round-trip time" far
# Flows write for the seconds that are left of the cell, then send what they have written. The
# first has the line for itself until the second starts after 5 s.
late() {
	numbers "import json
cell = json.load(open('$work/1/late.json'))['cells'][-1]
flows = cell['measured']['flows']
assert [f['start'] for f in cell['flows']] == [0, 5, 10, 15]
assert all(f['seconds'] >= 22 - start for f, start in zip(flows, (0, 5, 10, 15)))
first = [rate / 1e8 for rate in flows[0]['connection_bins'][0]]
assert min(first[1:4]) > 0.9 and max(first[7:10]) < 0.9, first"
}
check "each flow has its time" late
# Only the chapter that is asked for is replaced.
replaced() {
	cp -r "$work/report" "$work/part" &&
	sed -i 's/^Share of the line:$/Lost:/; /^## Eight senders/,$ d' "$work/part/README.md" &&
	tools/lab/report -f "$work/1" -o "$work/part" gtp &&
	grep -q '^Lost:$' "$work/part/README.md" &&
	test "$(grep '^## ' "$work/part/README.md")" = "$(grep '^## ' "$work/report/README.md")"
}
check "one chapter is written anew, the others stay" replaced
check "a chapter that there is not is refused" eval \
	'! tools/lab/report -f "$work/1" -o "$work/none" none 2> /dev/null && [ ! -e "$work/none" ]'

# The report lists failed cells.
spoil() {
	python3 -c "import json, sys; d = json.load(open(sys.argv[1])); del d['cells'][0]['measured']
d['cells'][0]['failed'] = 'status 97'
json.dump(d, open(sys.argv[1], 'w'))" "$work/1/start.json" &&
	tools/lab/report -f "$work/1" -o "$work/report" &&
	grep -q " $((cells - 1)) of $all cells" "$work/report/README.md" &&
	grep -q '^- .*: status 97$' "$work/report/README.md"
}
check "a failed cell is reported" spoil
# A burst, a pause, then the rate: only the half round trip until 0.25 s has the rate.
check "a spike is not the rate" numbers "from sstptools.lab import analysis
bins = [0] * 10 + [900] + [0] * 9 + [100] * 30
assert round(analysis.reaches(bins, 0.01, 0.0, 90, 0.1), 6) == 0.25"
check "the analysis is the paper's at its ends" numbers "from sstptools.lab import analysis
path = {'rate': 1e8, 'rtt': 100, 'loss': 0, 'packets': 20}
group, wait, wa = 20 * analysis.packet_time(path), analysis.ack_time(path), analysis.full_window(path)
assert abs(analysis.delay(path, wait) - group - wait) < 1e-12
assert abs(analysis.efficiency(path, 1) - 1 / (1 + wa)) < 1e-12
lossy = dict(path, loss=1e-3)
assert analysis.delay(lossy, wait) > analysis.delay(path, wait)
assert analysis.efficiency(lossy, 2 * wa + 1) == 1 - 1e-3
below, above = (analysis.efficiency(lossy, wa + 1 + d) for d in (-1e-9, 1e-9))
assert abs(below - above) < 1e-6 and 0 < above < 1
assert analysis.stability([[3, 3, 3], [1, 2, 3]]) == 0.25
assert analysis.jain([2, 2]) == 1 and analysis.jain([1, 0, 0, 0]) == 0.25"
check "what is wanted of no cell is told" numbers "from sstptools.lab import verdict
cells = [{'path': {'rate': 1}, 'measured': {'flows': [{'name': 'a', 'goodput': 1}]}}]
want = {'flow': 'a', 'measure': 'goodput', 'least': 1}
odd = [dict(want, flow='b'), dict(want, where={'rate': [2, 3]}), dict(want, than='c')]
assert verdict.unjudged([want] + odd, cells) == odd"
check "an unfair share of a line is missed" numbers "from sstptools.lab.verdict import misses
flows = [{'name': 'a', 'jain': 1.0}, {'name': 'a', 'jain': 1.0}]
cells = [{'path': {}, 'flows': flows, 'measured': {'flows': flows, 'jain': value}} for value in (0.9, 0.96)]
missed = misses([{'flow': 'a', 'measure': 'jain', 'least': 0.95}], cells)
assert [cell['measured']['jain'] for cell, _ in missed] == [0.9, 0.9], missed"
check "a miss names who comes nearest on the path" numbers "from sstptools.lab.verdict import misses
cells = [{'path': {'x': x}, 'flows': [], 'measured': {'flows': [{'name': name, 'lost': lost}]}}
         for x, name, lost in ((1, 'a', 5), (1, 'b', 4), (1, 'c', 2e6), (2, 'a', 5), (2, 'b', 5), (3, 'a', 5))]
def told(**want):
    return [text for _, text in misses([{'flow': 'a', 'measure': 'lost', **want}], cells)]
assert told(most=0) == ['lost 5, wanted at most 0; b has the least, 4',
                        'lost 5, wanted at most 0; none has less', 'lost 5, wanted at most 0'], told(most=0)
assert told(least=6, where={'x': [1, 1]}) == ['lost 5, wanted at least 6; c has the most, 2000000']
assert told(least=1, most=2, where={'x': [1, 1]}) == ['lost 5, wanted at least 1 and at most 2']
assert told(most=1, than='b', where={'x': [1, 1]}) == ['lost 1.25 of that of b, wanted at most 1']"
check "means over paths that all flows have" numbers "from sstptools.lab.report import sobas_means
def cell(n, name, goodput):
    return {'path': {'available': 10, 'n': n}, 'measured': {'queue_ms': n, 'flows': [
        {'name': name, 'goodput': goodput * 1e6, 'lost': 7}]}}
cells = [cell(1, 'x + sobas', 6), cell(1, 'x + rrda', 8), cell(1, 'TCP cubic', 4), cell(2, 'x + sobas', 9),
         cell(2, 'x + rrda', 9), cell(2, 'TCP cubic', 9), cell(3, 'x + sobas', 1), cell(3, 'TCP cubic', 9)]
rows = [row.split() for row in sobas_means(cells).splitlines() if row.startswith('| x + sobas')]
assert rows == ['| x + sobas | 0.750 | 1.250 | 0.875 | 0.750 | 1 | 1.5 | 7 |'.split()], rows
assert sobas_means(cells[:2]) == '', sobas_means(cells[:2])"
# Each seed gives the flows other delays, and the machine starts the flows by these.
spread() {
	numbers "import json
from sstptools.lab.cell import delayed, shell_settings
cells = json.load(open('$work/1/beside.json'))['cells'][-2:]
assert [c['seed'] for c in cells] == [1, 2] and cells[0]['delays'] != cells[1]['delays']
for cell in cells:
    assert all(0 <= d <= 0.1 for d in cell['delays'])
    for n, delay in enumerate(cell['delays']):
        assert f'start{n}={delay}\n' in shell_settings(delayed(cell)), shell_settings(delayed(cell))"
}
check "flows start at other times with another seed" spread
check "means of cells that differ in the seed" numbers "from sstptools.lab.verdict import means
cells = [{'path': p, 'seconds': 1, 'flows': [], 'seed': s, 'measured': {'a': v, 'b': [v, 2], 'n': 'x'}}
         for s, p, v in ((1, {'x': 1}, 1), (1, {'x': 2}, 5), (2, {'x': 1}, 4))]
one, other = means(cells)
assert one['measured'] == {'a': 2.5, 'b': [2.5, 2], 'n': 'x'}, one
assert other['measured']['a'] == 5 and other['path'] == {'x': 2}"
check "a name for several experiments" numbers "from sstptools.lab.experiment import load, members
assert all(load(name)['flow'] for name in members('default')) and members('wan') == ['wan']"
check "cells of other sources than the tree's have failed" numbers "from sstptools.lab import run
good, odd = ({'source': s, 'measured': 1} for s in (run.source_keys()[0], 'odd'))
assert run.checked(good) == good and 'measured' not in run.checked(odd)"
check "arithmetic of settings" numbers "from sstptools.lab.experiment import value
names = {'a': 3, 'b': 0.5}
for text, want in (('int(a * 2.5 + b)', 8), ('max(1, min(a, 7 // 2)) / -b', -6), ('a - 1 - 1', 1)):
    assert value(text, names) == want, text"
# An expression that is not arithmetic is refused with a message.
refuses() { numbers "from sstptools.lab.experiment import value
try:
    value('$1', {'a': 3})
except ValueError as error:
    print(error)
else:
    raise SystemExit('taken')"; }
for text in c 'open(a)' 'a.real' 'int(a, base=3)' '[a][0]' '(lambda: a)()' 'a ** 9' True; do
	check "'$text' is no setting" refuses "$text"
done
check "an unknown experiment is refused" eval '! tools/lab/run none 2>/dev/null'

# An experiment in a file of the user
mkdir "$work/own" "$work/away"
cat > "$work/own/mine.toml" <<-END
	title = "Segments of two sizes"
	seconds = 2
	[path]
	rate = 20_000_000
	rtt = 20
	loss = 0.0
	queue = 1.1
	unit = 10_000
	[let]
	segment = "size * unit"
	[sweep]
	size = [1, 5]
	rtt = [10, 20]
	[[flow]]
	name = "mine"
	proto = "sstp"
	client = ["--rate", "{rate}", "--segment", "{segment}"]
	[[flow]]
	name = "TCP"
	proto = "tcp"
	[[wanted]]
	flow = "mine"
	measure = "efficiency"
	least = 0.8
END
mine() {
	local lab=$PWD/tools/lab
	(cd "$work/away" && "$lab/run" ../own/mine.toml && rm lab-results/mine.svg &&
		"$lab/plot" mine && rm lab-results/mine.png && "$lab/plot" ../own/mine.toml)
}
drawn() {
	local word
	for word in "Segments of two sizes" mine TCP "10 ms" size; do
		grep -q ">.*$word.*<" "$work/away/lab-results/mine.svg" || { echo "no $word"; return 1; }
	done
	test -s "$work/away/lab-results/mine.png"
}
check "an experiment of a user's own is measured and drawn" mine
check "its cells are all combinations, of each flow" test 8 = \
	"$(grep -c '"measured"' "$work/away/lab-results/mine.json")"
check "the picture shows what is varied, and its flows" drawn

# Cross traffic of all kinds beside a transfer of a size, which a queue of 10 ms has room for
cat > "$work/own/crowd.toml" <<-END
	title = "Cross traffic"
	sample = true
	[path]
	rate = 50_000_000
	rtt = 20
	loss = 0.0
	part = 10e6
	[sweep]
	queue_ms = [10]
	slot = [0, 0.5]
	[[cross]]
	name = "bursts"
	kind = "udp"
	rate = "{part}"
	stop = 5
	[[cross]]
	name = "short"
	kind = "flows"
	rate = "{part}"
	stop = 5
	rtt = 40
	most = 1e6
	[[cross]]
	name = "window"
	kind = "long"
	rate = "{part}"
	stop = 5
	count = 2
	[[cross]]
	name = "none"
	kind = "udp"
	rate = 0
	[[flow]]
	name = "mine"
	proto = "sstp"
	size = "20M"
	start = 2
	client = ["--bin", "20000"]
	server = ["--lowat", "8K", "--policy", "rrda", "--policy-param", "epoch=50"]
	[[flow]]
	name = "TCP"
	proto = "tcp"
	size = "20M"
	start = 2
END
crowd() { tools/lab/run -o "$work/$1" "${@:2}" "$work/own/crowd.toml"; }
crowd_is() { numbers "import json
cells = json.load(open('$work/crowd1/crowd.json'))['cells']
for c in cells:
    assert 'measured' in c, c.get('failed')
$1"; }
check "cross traffic of all kinds" crowd crowd1 -f mine -n 2
check "... again" crowd crowd2 -f mine -n 2
check "... with the same bytes" cmp "$work/crowd1/crowd.json" "$work/crowd2/crowd.json"
check "... each with its name, and the packets of its rate in 5 s" crowd_is "
    bursts, short, window = ({'name': s['name'], 'rate': s['sent'] * 1514 * 8 / 5}
                             for s in c['measured']['cross'])
    assert [s['name'] for s in (bursts, short, window)] == ['bursts', 'short', 'window']
    assert 6e6 < bursts['rate'] < 14e6 and 4e6 < short['rate'] < 16e6, (bursts, short)
    assert 5e6 < window['rate'] <= 10.8e6, window"
check "... with the packets that each lost" crowd_is "
    lost = sum(s['lost'] for s in c['measured']['cross'] + c['measured']['flows'])
    assert lost == c['measured']['dropped'] > 0, (lost, c['measured']['dropped'])"
check "... with other traffic for each seed" crowd_is "
sent = {(c['seed'], c['measured']['cross'][0]['sent']) for c in cells if c['path']['slot'] == 0}
assert len(sent) == 2 and len(set(dict(sent).values())) == 2, sent"
check "... which delays packets by the queue's 10 ms at most" crowd_is "
    assert 0 < c['measured']['queue_ms'] < c['measured']['queue_95'] <= 10.3, c['measured']"
check "... bytes of the flow as asked for" crowd_is "
    assert c['measured']['flows'][0]['bytes'] == 20 << 20, c['measured']['flows'][0]['bytes']"
check "... and when the flow has what they leave" crowd_is "
    assert 0 < c['measured']['flows'][0]['gain_rtt'] < 200, c['measured']['flows'][0]['gain_rtt']"

# Another seed makes other cells, which the results have in place of those of before.
another() {
	crowd crowd2 -f mine -r -S 3 > "$work/log" &&
		grep -q "^4 results of other settings" "$work/log" &&
		cmp "$work/crowd1/crowd.json" "$work/crowd2/crowd.json.old1" &&
		test "$(grep -c '"measured"' "$work/crowd2/crowd.json")" = 2
}
check "results that a resumed run has no cell for are kept" another

traced() {
	numbers "import json
path = '$work/1/sobas_traces.json'
(cell,) = [c for c in json.load(open(path))['cells']]
trace, path = cell['measured']['trace'], cell['path']
epochs, flow = trace['epochs'], cell['measured']['flows'][0]
assert len(epochs['time']) > 50 and epochs['time'] == sorted(epochs['time']), epochs['time']
assert all(path['rtt'] <= rtt / 1e3 < 4 * path['rtt'] for rtt in epochs['rtt']), epochs['rtt']
assert max(epochs['window']) > path['available'] * path['rtt'] * 1e3 / 8, epochs['window']
assert abs(sum(trace['delivered']) - flow['bytes'] / 1448) < 100, sum(trace['delivered'])
assert sum(trace['lost']) >= flow['lost'], trace['lost']
assert min(trace['cwnd']) > 0 and trace['time'][-1] < flow['seconds'] + 1, trace['time'][-1]
assert len(trace['queue']) > 50 and max(trace['queue']) <= path['queue_bdp'] * path['rtt'] + 1"
}
check "windows, losses and the queue are in a trace" traced

# spoiled SED WHY: the file, edited by SED, is refused with one line that has WHY.
spoiled() {
	sed "$1" "$work/own/mine.toml" > "$work/own/bad.toml"
	! tools/lab/run -o "$work/bad" "$work/own/bad.toml" 2> "$work/refusal" &&
		tail -n 1 "$work/refusal" | grep "$2" && ! grep Traceback "$work/refusal" &&
		[ ! -e "$work/bad" ]
}
check "one without a title is refused" spoiled '/^title/d' 'no title'
check "one whose path has no queue" spoiled '/^queue/d' 'a queue or queue_ms'
check "one whose path has no loss" spoiled '/^loss/d' 'no loss'
check "one without seconds" spoiled '/^seconds/d' 'no seconds'
check "one that traces without samples" spoiled '/^title/s/$/\ntrace = true/' "needs sample"
check "one that varies nothing it uses" spoiled 's/{segment}/{sigment}/' "lacks 'sigment'"
check "one with two sizes of the queue" spoiled 's/^queue = .*/&\nqueue_ms = 9/' "a queue or queue_ms"
check "one with cross traffic of an unknown kind" spoiled \
	'/^title/s/$/\ncross = [{ name = "x", kind = "odd", rate = 1 }]/' "kind of cross traffic"
check "one whose cross traffic is nearer than half the path" spoiled \
	'/^title/s/$/\ncross = [{ name = "x", kind = "udp", rate = 1, rtt = 4 }]/' "half the path"
check "one that is not TOML" spoiled '1s/"$//' 'bad.toml: '
check "one that wants another picture" spoiled '2s/^/draw = "pie"\n/' 'draw is one of'
check "two of one name" eval '! tools/lab/run wan "$work/own/../own/wan.toml" 2>/dev/null'
check "a picture of what was not measured is refused" eval \
	'! tools/lab/plot -o "$work/away" mine 2> "$work/refusal" && ! grep Traceback "$work/refusal"'
check "what an experiment may ask for can be drawn" numbers "from sstptools.lab import experiment, plot
assert set(experiment.DRAWN) == set(plot.DRAW)"
finish
