#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# tools/demo transfers a file, and its table and JSON agree with the transfer.
# timeout: 2700
. "$(dirname "$0")/../net/sstp/lib.sh"

cd "$(dirname "$0")/../.." || exit
for kernel in uml 6.12 6.1 none; do
	image=$(tools/vm/kernel path $kernel 2> /dev/null) && break
done
[ "$kernel" != none ] || skip_all "no kernel is there"
image=$(readlink -f "$image/image")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' TERM

refused() {
	local status
	tools/demo -o "$work/none" "$@" > "$work/output" 2>&1
	status=$?
	cat "$work/output"
	[ "$status" != 0 ] && [ "$status" -lt 90 ] && [ -s "$work/output" ] &&
		[ ! -e "$work/none" ]
}
check "an unknown option is refused" refused -x
check "an argument is refused" refused now
check "an unknown kernel is refused" refused -k 5.10
for size in 0 -1 1.5 3M 10000 ''; do
	check "size '$size' is refused" refused -s "$size"
done

mb=3
demo() {
	tools/demo -k "$kernel" -s $mb -o "$work/out" > "$work/table"
	local status=$?
	cat "$work/table"
	return $status
}
check "moves $mb MB on $kernel" demo
[ -e "$work/out/goodput.json" ] || finish

# row NAME: the table has a row of this name, without a failure
row() { grep -E "^$1 +[0-9.]+ +[0-9.]+ +[0-9.-]+ +[0-9]+ +[0-9]+ +[0-9.]+  ok$" "$work/table"; }
for name in SSTP "TCP cubic" "TCP bbr"; do
	check "the table has $name" row "$name"
done

# results PYTHON: an expression that is true for d, the contents of goodput.json
results() {
	/usr/bin/python3 - "$work/out" "$image" "$mb" <<-END
		import hashlib, json, sys
		out, image, mb = sys.argv[1], sys.argv[2], int(sys.argv[3])
		with open(out + "/goodput.json") as f:
		    d = json.load(f)
		path, file, runs = d["path"], d["file"], d["runs"]
		sent = file["bytes"]
		measured = [run["measured"] for run in runs]
		for run in runs:
		    print({k: v for k, v in run.items() if k != "measured"})
		    print(run["measured"])
		assert $1
	END
}
check "three runs without a failure" \
	results '[(r["name"], r["ok"]) for r in runs] == [(n, True) for n in ("sstp", "cubic", "bbr")]'
check "the file is the kernel's image" results \
	'file["sha256"] == hashlib.sha256(open(image, "rb").read(mb * 10 ** 6)).hexdigest()'
check "it has its size" results 'sent == mb * 10 ** 6'
check "each run received this file" \
	results 'all(r["sha256_ok"] and r["sha256"] == file["sha256"] for r in runs)'
check "the bins hold all of it" results \
	'all(sum(m["goodput_bins"]) * m["bin_ms"] == 8000 * sent for m in measured)'
check "goodput is bits by seconds" \
	results 'all(abs(m["goodput"] * m["seconds"] / sent / 8 - 1) < 1e-3 for m in measured)'
# Two round trips: to connect, and for the last of the file and the answer to it.
least='2 * 2 * path["delay_ms"] / 1e3 + 8 * sent * path["frame_bytes"] / path["payload_bytes"]'
check "no run is faster than the line" \
	results "all(m['seconds'] > $least / path['line_rate'] for m in measured)"
check "SSTP has the contract" results \
	'path["contract"] == 0.95 * path["line_rate"] == measured[0]["info"]["rate.peak"]'
check "SSTP is not faster than its contract" \
	results "measured[0]['seconds'] > $least / path['contract']"
# Almost all packets to the receiver carry the file.
check "lost packets were sent again" \
	results 'all(m["retransmits"] >= r["dropped"] - 3 for m, r in zip(measured, runs))'
check "the receivers' buffers were used" \
	results 'all(1448 < m["receive_peak"] < 2 * sent for m in measured)'

png() {
	/usr/bin/python3 - "$work/out/goodput.png" <<-END
		import sys
		from matplotlib import image
		picture = image.imread(sys.argv[1])
		assert picture.shape[0] > 500 and picture.shape[1] > 800, picture.shape
		for color in (0x0b, 0x6e, 0x4f), (0xc8, 0x55, 0x3d), (0x3d, 0x5a, 0x98):
		    near = abs(picture[:, :, :3] * 255 - color).max(axis=2) < 8
		    print(color, near.sum())
		    assert near.sum() > 500
	END
}
svg() {
	/usr/bin/python3 - "$work/out/goodput.svg" <<-END
		import sys
		import xml.etree.ElementTree as xml
		text = " ".join(xml.parse(sys.argv[1]).getroot().itertext())
		for label in "SSTP", "TCP cubic", "TCP bbr", "goodput, Mbit/s":
		    assert label in text, label
	END
}
check "goodput.png has three curves" png
check "goodput.svg names them" svg

# Reports of failed runs, for which three files are changed
mkdir -p "$work/runs" "$work/report"
/usr/bin/python3 - "$work" <<-END
	import json, sys
	work = sys.argv[1]
	with open(work + "/out/goodput.json") as f:
	    d = json.load(f)
	def put(name, text):
	    with open(work + "/runs/" + name, "w") as f:
	        f.write(text)
	put("path.json", json.dumps(d["path"]))
	put("file", "content")
	put("label", "a file")
	put("runs", "sstp\ncubic\nbbr\n")
	put("file.sha256", d["file"]["sha256"])
	for run in d["runs"]:
	    put(run["name"] + ".json", json.dumps(run["measured"]))
	    put(run["name"] + ".sha256", run["sha256"])
	    put(run["name"] + ".dropped", "0")
END
report() { tools/demo.d/report "$work/runs" "$work/report"; }
# fails ROW: report fails and prints a row that matches ROW
fails() {
	local out
	out=$(report) && { echo "status 0"; return 1; }
	printf '%s\n' "$out"
	grep -Eq "^$1$" <<< "$out"
}
check "report: no failure" report
echo "not in this kernel" > "$work/runs/bbr.missing"
check "report: a kernel without bbr is no failure" report
rm "$work/runs/bbr.missing"
echo "send: Connection timed out" > "$work/runs/cubic.failed"
check "report: a failed run is a failure" fails "TCP cubic .*FAILED: send: Connection timed out"
rm "$work/runs/cubic.failed" "$work/runs/cubic.json"
check "report: a run without a result is a failure" fails "TCP cubic .*FAILED: no result"
echo 0 > "$work/runs/sstp.sha256"
check "report: a received file that differs is a failure" fails "SSTP .*DIFFERS"
finish
