#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Programs written for TCP use SSTP under sstp-run, and TCP where the other end or the
# kernel has no SSTP. The test runs real programs, with loss on the path, and reads from the
# kernel's counters which protocol connections used.
# timeout: 1800
# kernels: uml 6.12
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/path.sh"

here=$(cd "$(dirname "$0")" && pwd)
cases=$here/run_cases.py
export PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1

# The file in which sstp-run remembers services; forget_hosts deletes it.
export XDG_RUNTIME_DIR=$work/run
mkdir "$XDG_RUNTIME_DIR"
forget_hosts() { rm -f "$XDG_RUNTIME_DIR"/*; }
# known COMMAND...: COMMAND has connected by SSTP, so that its service is known. A new service
# has to answer by SSTP in about the time that TCP takes (run_time.sh tests this in simulated
# time). On a busy machine it may not; it is then forgotten, and tried again.
known() {
	in_ns "$a" sstp-run -v "$@" 2>&1 | grep '^sstp-run: .*: SSTP' && return
	forget_hosts
	return 1
}

# meets ADDRESS PORT: connects, which makes the service known.
meets() { busywait 60 known bash -c "exec 3<> /dev/tcp/$1/$2"; }
# meets_again ADDRESS PORT: does so on a clean path, as the service is known for 60 s only, and the
# last program that used it may have taken as long on a busy machine.
meets_again() {
	impair delay 1ms
	meets "$@"
}

# opens: prints how many connections a has tried by SSTP, and b has got by TCP so far. If
# both are tried, TCP's handshake is not completed.
opens() {
	in_ns "$a" awk '$1 == "ActiveOpens" { print $2 }' /proc/net/sstp_snmp
	in_ns "$b" awk '$1 == "Tcp:" && n++ { print $7 }' /proc/net/snmp
}

# by sstp|tcp|both COMMAND...: runs COMMAND in a, which connects by these protocols only.
by() {
	local what=$1 before after sstp tcp status
	shift
	before=$(opens | xargs)
	SSTP_RUN_VERBOSE=1 in_ns "$a" "$@"
	status=$?
	after=$(opens | xargs)
	sstp=$((${after% *} - ${before% *})) tcp=$((${after#* } - ${before#* }))
	[ "$status" = 0 ] || { echo "exit status $status"; return 1; }
	case $what in
	sstp) [ $sstp -gt 0 ] && [ $tcp = 0 ] ;;
	tcp) [ $sstp = 0 ] && [ $tcp -gt 0 ] ;;
	both) [ $sstp -gt 0 ] && [ $tcp -gt 0 ] ;;
	esac || { echo "connections: $sstp by SSTP, $tcp by TCP"; return 1; }
}

# server PORT COMMAND...: starts a server in b, and waits until it listens.
server() {
	local port=$1
	shift
	ip netns exec "$b" "$@" > "$work/server.log" 2>&1 < /dev/null &
	server_pid=$!	# ip netns exec replaces itself by the server
	busywait 60 listens "$port" "$1" && return
	fail "${*:1:3} listens"
	sed 's/^/# /' "$work/server.log"
	return 1
}
listens() {
	case $2 in
	sstp-run) grep -q "at .* port $1: SSTP and TCP" "$work/server.log" ;;
	*) in_ns "$b" ss -Hltn "sport = :$1" | grep -q . ;;
	esac
}
stop() { { kill "$server_pid"; wait "$server_pid"; } 2> /dev/null; }

setup_path || skip_all "no network namespaces"
for program in iperf3 curl socat ssh scp ssh-keygen ss; do
	command -v $program > /dev/null || skip_all "$program is not there: tools/deps net"
done
head -c 1000000 /dev/urandom > "$work/file"
same() { cmp "$work/file" "$1"; }
# echoed ARGUMENT OF by...: the command gets the file back.
echoed() { by "$@" < "$work/file" > "$work/echo" && same "$work/echo"; }

# --- iperf3. A service that is not known yet is asked on a clean path: with the first packet
# of SSTP lost TCP would be faster.
impair delay 1ms
server 5201 sstp-run -v iperf3 -s
check "iperf3 without sstp-run, by TCP" by tcp iperf3 -c "$b4" -n 1M
check "iperf3 without sstp-run, by TCP, IPv6" by tcp iperf3 -c "$b6" -n 1M
check "iperf3 is known" busywait 60 known iperf3 -c "$b4" -n 1K
check "iperf3 is known, IPv6" busywait 60 known iperf3 -c "$b6" -n 1K
check "iperf3 sends" by sstp sstp-run iperf3 -c "$b4" -n 2M
check "iperf3 by IPv6" by sstp sstp-run iperf3 -c "$b6" -n 1M
impair delay 1ms loss 0.5%
check "iperf3 receives" by sstp sstp-run iperf3 -c "$b4" -n 2M -R
check "iperf3 -P 4" by sstp sstp-run iperf3 -c "$b6" -n 2M -P 4
check "iperf3 --bidir" by sstp sstp-run iperf3 -c "$b4" -n 1M --bidir
contract() {
	by sstp sstp-run --rate 20M --policy static iperf3 -c "$b4" -n 1M -J > "$work/json" &&
	grep -q '"sender_tcp_congestion":[[:space:]]*"rate"' "$work/json"
}
check "iperf3 under a contract" contract
stop

# --- HTTP
impair delay 1ms
server 8000 sstp-run -v python3 -m http.server --bind :: --directory "$work" 8000
get() { curl -sSf -m 60 -o "$work/got" "$@" && same "$work/got"; }
export -f get same
export work
check "http.server is known" busywait 60 known curl -sSf -o /dev/null "http://$b4:8000/file"
check "http.server is known, IPv6" busywait 60 known curl -sSf -o /dev/null "http://[$b6]:8000/file"
check "curl and http.server" by sstp sstp-run bash -c "get http://$b4:8000/file"
check "curl and http.server, IPv6" by sstp sstp-run bash -c "get http://[$b6]:8000/file"
# The user "nobody" has a file of services of its own, in /tmp.
known_to_nobody() {
	in_ns "$a" sstp-run python3 "$cases" daemon "$b4" 8000 && return
	rm -f /tmp/sstp-run-hosts-65534
	return 1
}
check "http.server is known, by the user nobody" busywait 60 known_to_nobody
meets_again "$b4" 8000
impair delay 1ms loss 1%
check "curl, which knows the server" by sstp sstp-run bash -c "get http://$b4:8000/file"
logged() {
	(cd "$work" && by sstp sstp-run --log log python3 "$cases" daemon "$b4" 8000) &&
		grep -q "^sstp-run: python3.*: to $b4 port 8000: SSTP" "$work/log"
}
check "a daemon logs its protocol in a file" logged
check "curl without sstp-run, by TCP" by tcp bash -c "get http://$b4:8000/file"
stop
server 8001 python3 -m http.server --bind 10.0.2.2 --directory "$work" 8001
check "curl, and a server without sstp-run" by both sstp-run bash -c "get http://$b4:8001/file"
says() {
	by both sstp-run -v python3 "$cases" http "$b4" 8001 "$work/file" 2>&1 |
		tee "$work/said"
	[ "${PIPESTATUS[0]}" = 0 ] &&
		grep -q "to $b4 port 8001: TCP (Connection refused)" "$work/said" &&
		grep -q "to $b4 port 8001: TCP (the service recently had no SSTP)" "$work/said"
}
forget_hosts
# The refusal must not be lost, as silence has another message.
impair
check "blocking and non-blocking clients, and a server without sstp-run" says
impair delay 1ms loss 1%
stop

# --- ssh
mkdir -p /run/sshd "$work/ssh"
grep -q '^sshd:' /etc/passwd || echo 'sshd:x:74:65534::/run/sshd:/usr/sbin/nologin' >> /etc/passwd
for key in host user; do
	ssh-keygen -q -t ed25519 -N '' -f "$work/ssh/$key"
done
cp "$work/ssh/user.pub" "$work/ssh/authorized"
cat > "$work/ssh/config" <<-END
	Port 2222
	HostKey $work/ssh/host
	AuthorizedKeysFile $work/ssh/authorized
	PidFile none
	StrictModes no
	UsePAM no
	PermitRootLogin yes
	Subsystem sftp /usr/lib/openssh/sftp-server
END
ssh_options=(-F none -i "$work/ssh/user" -o StrictHostKeyChecking=no
	     -o UserKnownHostsFile=/dev/null -o BatchMode=yes -o LogLevel=ERROR
	     -o KexAlgorithms=curve25519-sha256)	# the quickest when emulated
impair delay 1ms
if ! sshd=$(command -v sshd); then
	skip "ssh and scp" "sshd is not there: tools/deps net"
elif server 2222 sstp-run -v "$sshd" -D -e -f "$work/ssh/config"; then
	check "sshd is known" meets "$b4" 2222
	check "sshd is known, IPv6" meets "$b6" 2222
	check "ssh, a file there and back" echoed sstp \
		sstp-run ssh "${ssh_options[@]}" -p 2222 "root@$b4" cat
	check "scp to there" by sstp sstp-run scp -q "${ssh_options[@]}" -P 2222 \
		"$work/file" "root@[$b6]:$work/scp"
	check "scp to there: content" same "$work/scp"
	stop
fi

# --- socat
impair delay 1ms
server 7000 sstp-run -v socat -b 65536 TCP-LISTEN:7000,fork,reuseaddr EXEC:cat
check "socat is known" meets "$b4" 7000
check "socat, there and back" echoed sstp sstp-run socat -b 65536 -t 60 - "TCP:$b4:7000"
meets_again "$b4" 7000
impair delay 1ms loss 1%
check "socat, with loss" echoed sstp sstp-run socat -b 65536 -t 60 - "TCP:$b4:7000"
stop

# --- asyncio
impair delay 1ms
server 7001 sstp-run -v python3 "$cases" serve 7001
check "a server of asyncio is known" meets "$b4" 7001
check "asyncio" by sstp sstp-run python3 "$cases" asyncio "$b4" 7001
meets_again "$b4" 7001
impair delay 1ms loss 1%
check "asyncio, with loss" by sstp sstp-run python3 "$cases" asyncio "$b4" 7001
check "asyncio, and a client without sstp-run" echoed tcp socat -t 60 - "TCP:[$b6]:7001"
meets_again "$b4" 7001
impair delay 400ms
check "an answer that is late" by sstp sstp-run python3 "$cases" late "$b4" 7001
stop

# --- cases that no program above covers
impair
in_ns "$a" sstp-run python3 "$cases" alone > "$work/alone" 2> "$work/alone.err"
check "cases alone end" test $? = 0
while read -r line; do
	case $line in
	"not ok "*) fail "${line#not ok }" ;;
	ok*) pass "${line#ok }" ;;
	esac
done < "$work/alone"
sed 's/^/# /' "$work/alone.err"
check "all of them" test "$(wc -l < "$work/alone")" = 15
check "rate, controller and policy" in_ns "$a" sstp-run --rate 20M --controller newreno \
	--policy static python3 "$cases" wanted
check "listen sstp, kept by exec()" in_ns "$a" sstp-run -l sstp python3 "$cases" listen-sstp
check "listen tcp" in_ns "$a" sstp-run -l tcp python3 "$cases" listen-tcp

# --- programs that do not load the library
cp /bin/true "$work/setgid"
chgrp 1 "$work/setgid" && chmod g+s "$work/setgid"
warns_that() { sstp-run -v "${@:2}" 2>&1 | grep -q "$1, so it uses TCP"; }
check "a static program is reported to use TCP" warns_that "is linked statically" /sbin/ldconfig --version
check "a set-group-ID program is reported to use TCP" warns_that "is set-group-ID" "$work/setgid"

# --- a peer without the module, a silent peer, a kernel without SSTP
in_ns "$a" sysctl -qw net.sstp.encap_port=10
server 7000 socat TCP-LISTEN:7000,fork,reuseaddr EXEC:cat
check "a peer whose kernel has no SSTP is not waited for" \
	echoed both sstp-run -t 60000 timeout 30 socat -t 20 - "TCP:$b4:7000"
stop
busywait 20 sockets_are "$a" 0
ip netns exec "$b" socat -u UDP-RECV:9 /dev/null &
silent=$!
forget_hosts
udp_open() { in_ns "$b" ss -Hlun "sport = :9" | grep -q .; }
busywait 20 udp_open
in_ns "$a" sysctl -qw net.sstp.encap_port=9
server 8001 socat TCP-LISTEN:8001,fork,reuseaddr EXEC:cat
check "a silent peer is given up, and not waited for again" \
	by both sstp-run -t 500 python3 "$cases" silent "$b4" 8001
kill $silent
stop

unloaded() { rmmod sstp; }
settle
cleanup
a='' b='' namespaces=()
if busywait 90 unloaded; then
	without() {
		sstp-run -v python3 "$cases" absent 2>&1 | tee "$work/said"
		[ "${PIPESTATUS[0]}" = 0 ] &&
			grep -q "port .*: TCP (the kernel has no SSTP)" "$work/said"
	}
	check "without the module, by TCP" without
	insmod "$SSTP_MODULE_DIR/sstp.ko"
else
	fail "the module unloads"
fi
finish
