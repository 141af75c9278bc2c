-- SPDX-License-Identifier: GPL-2.0
-- Wireshark dissector for AF_SSTP: decodes packets as net/sstp/wire.h defines them, and
-- checks them as net/sstp/wire.c does. Display filters begin with "afsstp", as "sstp" is
-- Microsoft's protocol. Documentation/networking/sstp.rst describes how to use it.
--
-- It runs in Wireshark 4.0 (Lua 5.2) and later (Lua 5.4), so it uses no operators on
-- bits, and rounds divisions with math.floor().

local PORT = 25719
local SEGMENT_MAX = 16777216
local LIMIT_MIN = 512
local PACKETS_MAX = 65535
local INIT_LEN = 256
local U32 = 0x100000000

local DATA, KEEPALIVE, EOS, PACK, SNAK = 0, 1, 2, 3, 4
local INIT, INIT_ACK, COOKIE, RESET, CLOSE, MESSAGE = 5, 6, 7, 8, 9, 10
local TYPES = {
	[DATA] = "DATA", [KEEPALIVE] = "KEEPALIVE", [EOS] = "EOS", [PACK] = "PACK",
	[SNAK] = "SNAK", [INIT] = "INIT", [INIT_ACK] = "INIT_ACK", [COOKIE] = "COOKIE",
	[RESET] = "RESET", [CLOSE] = "CLOSE", [MESSAGE] = "MESSAGE",
}
-- Bytes of the fixed part of each type
local FIXED = {
	[DATA] = 24, [KEEPALIVE] = 24, [EOS] = 24, [PACK] = 56, [SNAK] = 56,
	[INIT] = 48, [INIT_ACK] = 48, [COOKIE] = 24, [RESET] = 16, [CLOSE] = 16,
	[MESSAGE] = 16,
}
local STATE_LEN, MESSAGE_LEN = 44, 80
-- Flags of DATA, KEEPALIVE and EOS; of PACK and SNAK; of RESET; of MESSAGE
local LAST, AGAIN, ACK, EOR = 1, 2, 4, 8
local SOFT, ECHO, SEGMENT, PADDED, ECN, RIDES = 1, 2, 4, 8, 16, 128
local STRAY = 1
local BACK, ASK = 1, 2

local OPT_PAD, OPT_RATE, OPT_RATE_LIMIT, OPT_SEGMENT, OPT_TOLERANCE = 0, 1, 2, 3, 4
local OPT_STRATEGY, OPT_CONTROLLER, OPT_POLICY, OPT_COOKIE, OPT_MESSAGES = 5, 6, 7, 8, 9
local OPT_ECN = 10
local OPTIONS = {
	[OPT_PAD] = "PAD", [OPT_RATE] = "RATE", [OPT_RATE_LIMIT] = "RATE_LIMIT",
	[OPT_SEGMENT] = "SEGMENT", [OPT_TOLERANCE] = "TOLERANCE",
	[OPT_STRATEGY] = "STRATEGY", [OPT_CONTROLLER] = "CONTROLLER",
	[OPT_POLICY] = "POLICY", [OPT_COOKIE] = "COOKIE",
	[OPT_MESSAGES] = "MESSAGES", [OPT_ECN] = "ECN",
}
local OPTION_LEN = {
	[OPT_RATE] = 16, [OPT_RATE_LIMIT] = 4, [OPT_SEGMENT] = 4, [OPT_TOLERANCE] = 4,
	[OPT_STRATEGY] = 1, [OPT_COOKIE] = 16, [OPT_MESSAGES] = 1, [OPT_ECN] = 1,
}
local FIELD_FORECAST, FIELD_QUEUE, FIELD_SEGMENT = 1, 2, 3
local PACK_FIELDS = {
	[FIELD_FORECAST] = "FORECAST", [FIELD_QUEUE] = "QUEUE", [FIELD_SEGMENT] = "SEGMENT",
}
local FIELD_LEN = 8		-- of each of these, at least
local CODES = {
	[0] = "ABORT", [1] = "REFUSED", [2] = "UNKNOWN", [3] = "VERSION", [4] = "PROTOCOL",
}
local SKTYPES = { [1] = "SOCK_STREAM", [5] = "SOCK_SEQPACKET" }
local STRATEGIES = { [0] = "hard ACK", [1] = "soft ACK" }

local RUNS_SHOWN = 200		-- runs of missing packets shown in an entry
local RUNS_LISTED = 8		-- runs of missing packets shown in the info column
local ASKED_KEPT = 16		-- newest SNAK entries searched for a retransmission
local HALVES_KEPT = 64		-- newest connections with one known CID to search

local sstp = Proto("afsstp", "Segment Streaming Transport Protocol")

-- --- fields -------------------------------------------------------------------

local function uint8(name, title, about, names)
	return ProtoField.uint8("afsstp." .. name, title, base.DEC, names, nil, about)
end
local function uint16(name, title, about)
	return ProtoField.uint16("afsstp." .. name, title, base.DEC, nil, nil, about)
end
local function uint32(name, title, about, names)
	return ProtoField.uint32("afsstp." .. name, title, base.DEC, names, nil, about)
end
local function hex32(name, title, about)
	return ProtoField.uint32("afsstp." .. name, title, base.HEX, nil, nil, about)
end
local function bytes(name, title, about)
	return ProtoField.bytes("afsstp." .. name, title, base.NONE, about)
end
local function text(name, title, about)
	return ProtoField.string("afsstp." .. name, title, base.ASCII, about)
end
local function flag(name, title, mask, about)
	return ProtoField.bool("afsstp.flags." .. name, title, 8, { "yes", "no" }, mask, about)
end
local function frame(name, title, kind, about)
	return ProtoField.framenum("afsstp." .. name, title, base.NONE, kind, 0, about)
end

local f = {
	stream = uint32("stream", "Connection", "Number of the connection in this capture"),
	train = uint32("train", "Packets in the train",
		"Packets that were sent or received as one (GSO, GRO)"),
	train_size = uint32("train.size", "Bytes of each", "Length of each packet but the last"),

	cid = hex32("cid", "CID",
		"Chosen by the receiver of this packet; with STRAY by its sender"),
	type = uint8("type", "Type", "Packet type", TYPES),
	flags = ProtoField.uint8("afsstp.flags", "Flags", base.HEX, nil, nil,
		"Meaning depends on the type"),
	last = flag("last", "LAST", LAST, "Last packet of its segment"),
	again = flag("again", "AGAIN", AGAIN, "The packet was shipped before"),
	ack_now = flag("ack", "ACK", ACK, "Acknowledge at once"),
	eor = flag("eor", "EOR", EOR, "The segment ends a record (MSG_EOR)"),
	soft = flag("soft", "SOFT", SOFT, "The segment accepted may still be discarded"),
	has_echo = flag("echo", "ECHO", ECHO, "Echoed timestamp and hold time are valid"),
	has_segment = flag("segment", "SEGMENT", SEGMENT, "Segment accepted is valid"),
	padded = flag("padded", "PADDED", PADDED, "The echoed timestamp is of a padded packet"),
	has_ecn = flag("ecn", "ECN", ECN, "Counts of packets that came with ECT(0) and CE follow"),
	rides = flag("data", "DATA", RIDES, "A DATA packet or an EOS follows"),
	stray = flag("stray", "STRAY", STRAY, "The sender has no such connection"),
	back = flag("back", "BACK", BACK, "From a receiving half to the controller"),
	ask = flag("ask", "ASK", ASK, "The other end shall confirm the state"),
	kind = uint16("kind", "Kind", "0: state of the control; others are the controller's"),
	msg_seq = uint32("message", "Message", "One more with each MESSAGE of its sender"),
	msg_ctrl = uint16("message.controller", "Controller",
		"Number of the controller that the message belongs to"),
	state = uint16("state", "State", "Number of the state"),
	seen = uint16("state.seen", "State seen", "Number of the other end's newest state"),
	ack_interval = uint16("state.ack_interval", "ACK interval",
		"Packets after which the receiver is to report; 0: as it likes"),
	ack_timer = uint32("state.ack_timer", "ACK timer",
		"Time for which it may hold back a report, us; 0: as it likes"),
	state_rate = uint32("state.rate", "Rate", "The most to send, kbit/s; 0: any"),
	half = uint8("state.half", "Receiving half",
		"1: this end runs the receiving half of the other's controller"),
	state_name = text("state.name", "Controller", "Name of the sender's controller"),
	message_data = bytes("message.data", "Data", "What the controller says"),
	messages = uint8("messages", "Messages", "1: the sender takes MESSAGE packets"),
	ecn = uint8("ecn", "ECN", "1: the sender reports how many packets came marked"),
	ect = uint32("ect", "Packets with ECT(0)", "DATA packets that came so, modulo 2^32"),
	ce = uint32("ce", "Packets with CE", "DATA packets that came marked, modulo 2^32"),
	packet = uint16("packet", "Packet", "Packet number in the segment, from 0"),
	entries = uint16("entries", "Entries",
		"Entries that follow, with missing packets or segments"),
	options_len = uint16("options_len", "Bytes of options", "Zeros may follow"),
	reserved = uint16("reserved", "Reserved", "0 when sent, ignored when received"),

	shipment = uint32("shipment", "Shipment",
		"New for each DATA packet sent; in KEEPALIVE and EOS that of the last DATA packet"),
	segment = uint32("segment", "Segment",
		"KEEPALIVE: of the next new packet; EOS: one more than the last segment"),
	segment_rel = uint32("segment.relative", "Segment, from 0",
		"Counted from the sender's initial segment"),
	len = uint32("len", "Segment length", "Bytes in the segment"),
	stamp = uint32("stamp", "Timestamp", "Time of sending, us"),
	data_len = uint32("data_len", "Bytes of data", "Bytes of the segment in this packet"),
	packets = uint32("packets", "Packets in the segment",
		"Computed from the lengths of this packet and the segment"),
	data = bytes("data", "Data", "Data of the segment"),
	trailing = bytes("trailing", "Bytes that follow",
		"Bytes without meaning, or behind a malformed part"),

	control = uint32("control", "Control sequence number",
		"One more with each PACK or SNAK of its sender"),
	accepted = uint32("accepted", "Segment accepted",
		"A segment accepted before others that precede it; only with the flag SEGMENT"),
	ack = uint32("ack", "ACK segment (R_l)", "All segments before it were accepted"),
	ack_rel = uint32("ack.relative", "ACK segment, from 0",
		"Counted from the initial segment"),
	limit = uint32("limit", "Window upper limit (R_h)",
		"The highest segment that may be shipped"),
	window = uint32("window", "Window", "Segments from R_l to R_h"),
	echo = uint32("echo", "Echoed timestamp", "Timestamp of the packet received last, us"),
	hold = uint32("hold", "Hold time", "Time since that packet was received, us"),
	highest = uint32("highest", "Highest shipment (H)", "The highest shipment received"),
	received = uint32("received", "Packets received", "DATA packets received"),
	arrival = uint32("arrival", "Arrival rate", "Rate of new data received, kbit/s"),
	service = uint32("service", "Service rate", "Rate of data read by the program, kbit/s"),
	late = uint16("late", "Late", "Shipments before H that may still arrive"),
	progress = uint16("progress", "Progress",
		"Packets of segment R_l received without a gap"),
	unsettled = uint32("unsettled", "Unsettled",
		"All shipments up to H less this number arrived or were given up"),

	field = uint8("field", "Field", "Field of a PACK", PACK_FIELDS),
	field_len = uint8("field.len", "Length", "Bytes of the value"),
	field_value = bytes("field.value", "Value", "Value of an unknown field"),
	forecast = uint32("forecast", "Forecast", "Rate at which the program will read, kbit/s"),
	horizon = uint32("forecast.horizon", "Horizon", "Time until then, ms"),
	queue = uint32("queue", "Queue", "Least bytes that waited for the program in the epoch"),
	refused = uint32("queue.refused", "Refused", "Packets that found no room in the epoch"),
	segment_most = uint32("segment.most", "Largest segment", "Bytes of new segments, at most"),

	snak_segment = uint32("snak.segment", "Segment",
		"Segment of which packets are missing, or first missing segment"),
	snak_first = uint16("snak.first", "First", "Packet of the first bit"),
	snak_segments = uint16("snak.segments", "Segments",
		"Number of segments, from this one on, that are missing whole"),
	snak_bits = uint16("snak.bits", "Bits",
		"Bits in the bitmap; 0: whole segments are missing"),
	snak_map = bytes("snak.map", "Bitmap", "A bit that is 0 requests its packet"),
	snak_missing = text("snak.missing", "Missing packets", "Requested in this entry"),
	snak_count = uint32("snak.count", "Number of missing packets",
		"Requested in this entry, without those of segments missing whole"),

	init_cid = hex32("init.cid", "CID of the sender", "Chosen by the sender of this packet"),
	sport = uint16("srcport", "Source port", "SSTP's own, not UDP's"),
	dport = uint16("dstport", "Destination port", "SSTP's own, not UDP's"),
	init_shipment = uint32("init.shipment", "Initial shipment", "First shipment of the sender"),
	init_segment = uint32("init.segment", "Initial segment", "First segment of the sender"),
	init_window = uint32("init.window", "Initial window",
		"Segments that the peer may ship at first"),
	init_limit = uint32("init.limit", "Largest segment accepted", "Bytes"),
	version = uint8("version", "Version", "Protocol version: 1"),
	sktype = uint8("sktype", "Socket type", "Type of both sockets", SKTYPES),

	option = uint8("option", "Option", "Option of connection setup", OPTIONS),
	option_len = uint8("option.len", "Length", "Bytes of the value"),
	option_value = bytes("option.value", "Value", "Value of an unknown option"),
	peak = uint32("option.rate.peak", "Peak (P)", "kbit/s over any 1 ms"),
	average = uint32("option.rate.average", "Average", "kbit/s over any 1 s"),
	burst_rate = uint32("option.rate.burst_rate", "Bursts (F)", "Bursts per 1000 s"),
	burst_len = uint32("option.rate.burst_len", "Burst length (L)", "Packets per burst"),
	rate_limit = uint32("option.rate_limit", "Rate limit",
		"Highest rate at which the peer may send, kbit/s"),
	segment_size = uint32("option.segment", "Usual segment",
		"Bytes of the sender's usual segment"),
	tolerance = uint32("option.tolerance", "Tolerance",
		"Packets per million that a segment may lack"),
	strategy = uint8("option.strategy", "Strategy", "Strategy of acknowledgement", STRATEGIES),
	controller = text("option.controller", "Controller", "Name of the sender's controller"),
	policy = text("option.policy", "Buffer policy", "Name of the sender's buffer policy"),
	cookie = bytes("cookie", "Cookie", "Proof of the initiator's address"),

	code = uint32("code", "Code", "Cause of a RESET", CODES),
	seq = uint32("seq", "Sequence",
		"Last shipment of the sender; with STRAY the number of the packet it answers"),

	echo_of = frame("echo_of", "Echoes the timestamp of", frametype.REQUEST,
		"The packet that the sender received last"),
	rtt = ProtoField.double("afsstp.rtt", "Round-trip time, s",
		"From that packet to this one where it was captured, without the hold time"),
	asked_in = frame("asked_in", "Requested in", frametype.REQUEST,
		"The SNAK that this retransmission answers"),
	answered_in = frame("answered_in", "Shipped again from", frametype.RESPONSE,
		"The first retransmission that answers this SNAK"),
}
local fields = {}
for _, field in pairs(f) do
	fields[#fields + 1] = field
end
sstp.fields = fields

local function notice(name, title, group, severity)
	return ProtoExpert.new("afsstp." .. name, title, group, severity)
end
local x = {
	malformed = notice("malformed", "Malformed: a receiver drops it",
		expert.group.MALFORMED, expert.severity.ERROR),
	over_limit = notice("over_limit",
		"Segment longer than its receiver accepts: the receiver drops it",
		expert.group.PROTOCOL, expert.severity.ERROR),
	version = notice("other_version", "Unknown version or socket type",
		expert.group.PROTOCOL, expert.severity.WARN),
	cut = notice("cut", "Cut off by the capture, not checked",
		expert.group.UNDECODED, expert.severity.NOTE),
	again = notice("retransmission", "Shipped again",
		expert.group.SEQUENCE, expert.severity.NOTE),
	asks = notice("loss", "Requests retransmission",
		expert.group.SEQUENCE, expert.severity.NOTE),
	closed = notice("window_closed", "The window is closed",
		expert.group.SEQUENCE, expert.severity.NOTE),
	reset = notice("reset", "Connection reset",
		expert.group.SEQUENCE, expert.severity.WARN),
}
local experts = {}
for _, e in pairs(x) do
	experts[#experts + 1] = e
end
sstp.experts = experts

-- The numbers behind the header of each type: name in the table that parse() returns,
-- field, offset, bytes
local DATA_LAYOUT = {
	{ "shipment", f.shipment, 8, 4 }, { "segment", f.segment, 12, 4 },
	{ "seglen", f.len, 16, 4 }, { "stamp", f.stamp, 20, 4 },
}
local ACK_LAYOUT = {
	{ "control", f.control, 8, 4 }, { "accepted", f.accepted, 12, 4 },
	{ "ack", f.ack, 16, 4 }, { "limit", f.limit, 20, 4 }, { "echo", f.echo, 24, 4 },
	{ "hold", f.hold, 28, 4 }, { "highest", f.highest, 32, 4 },
	{ "received", f.received, 36, 4 }, { "arrival", f.arrival, 40, 4 },
	{ "service", f.service, 44, 4 }, { "late", f.late, 48, 2 },
	{ "progress", f.progress, 50, 2 }, { "unsettled", f.unsettled, 52, 4 },
}
-- Behind that of a PACK or SNAK with ECN
local ECN_LAYOUT = { { "ect", f.ect, 56, 4 }, { "ce", f.ce, 60, 4 } }
local INIT_LAYOUT = {
	{ "own", f.init_cid, 8, 4 }, { "sport", f.sport, 12, 2 }, { "dport", f.dport, 14, 2 },
	{ "shipment", f.init_shipment, 16, 4 }, { "segment", f.init_segment, 20, 4 },
	{ "window", f.init_window, 24, 4 }, { "limit", f.init_limit, 28, 4 },
	{ "stamp", f.stamp, 32, 4 }, { "echo", f.echo, 36, 4 }, { "hold", f.hold, 40, 4 },
	{ "version", f.version, 44, 1 }, { "sktype", f.sktype, 45, 1 },
	{ "zero", f.reserved, 46, 2 },
}
local MESSAGE_LAYOUT = {
	{ "seq", f.msg_seq, 8, 4 }, { "ctrl", f.msg_ctrl, 12, 2 }, { "state", f.state, 14, 2 },
}
-- Of a state, behind the fixed part
local STATE_LAYOUT = {
	{ f.seen, 16, 2 }, { f.ack_interval, 18, 2 }, { f.ack_timer, 20, 4 },
	{ f.state_rate, 24, 4 }, { f.half, 28, 1 }, { f.state_name, 29, 15 },
}
local END_LAYOUT = { { "code", f.code, 8, 4 }, { "seq", f.seq, 12, 4 } }
local LAYOUTS = {
	[DATA] = DATA_LAYOUT, [KEEPALIVE] = DATA_LAYOUT, [EOS] = DATA_LAYOUT,
	[PACK] = ACK_LAYOUT, [SNAK] = ACK_LAYOUT, [INIT] = INIT_LAYOUT,
	[INIT_ACK] = INIT_LAYOUT, [COOKIE] = {}, [RESET] = END_LAYOUT, [CLOSE] = END_LAYOUT,
	[MESSAGE] = MESSAGE_LAYOUT,
}
local DATA_FLAGS = { f.last, f.again, f.ack_now, f.eor }
local ACK_FLAGS = { f.soft, f.has_echo, f.has_segment, f.padded, f.has_ecn, f.rides }
local FLAGS = {
	[DATA] = DATA_FLAGS, [KEEPALIVE] = DATA_FLAGS, [EOS] = DATA_FLAGS,
	[PACK] = ACK_FLAGS, [SNAK] = ACK_FLAGS, [RESET] = { f.stray },
	[MESSAGE] = { f.back, f.ask },
}
local WORD = {			-- field of the last two bytes of the header
	[DATA] = f.packet, [KEEPALIVE] = f.packet, [SNAK] = f.entries,
	[INIT] = f.options_len, [INIT_ACK] = f.options_len,
	[MESSAGE] = f.kind,
}
local FIELD_FIELDS = {
	[FIELD_FORECAST] = { f.forecast, f.horizon }, [FIELD_QUEUE] = { f.queue, f.refused },
	[FIELD_SEGMENT] = { f.segment_most },
}
local OPTION_FIELDS = {
	[OPT_RATE] = { { f.peak, 0 }, { f.average, 4 }, { f.burst_rate, 8 }, { f.burst_len, 12 } },
	[OPT_RATE_LIMIT] = { { f.rate_limit, 0 } }, [OPT_SEGMENT] = { { f.segment_size, 0 } },
	[OPT_TOLERANCE] = { { f.tolerance, 0 } }, [OPT_STRATEGY] = { { f.strategy, 0 } },
	[OPT_CONTROLLER] = { { f.controller, 0 } }, [OPT_POLICY] = { { f.policy, 0 } },
	[OPT_COOKIE] = { { f.cookie, 0 } }, [OPT_MESSAGES] = { { f.messages, 0 } },
	[OPT_ECN] = { { f.ecn, 0 } },
}

-- --- packets, byte by byte ----------------------------------------------------

-- The big-endian number of size bytes at offset at of a string
local function number(s, at, size)
	local value = 0
	for i = at + 1, at + size do
		value = value * 256 + s:byte(i)
	end
	return value
end

local function has(flags, mask)
	return flags % (2 * mask) >= mask
end

-- The difference a - b of serial numbers, from -2^31 to 2^31 - 1
local function serial(a, b)
	local d = (a - b) % U32
	return d < U32 / 2 and d or d - U32
end

local function words(bits)
	return math.floor((bits + 31) / 32)
end

-- Bytes of the fixed part, and of the numbers that a flag adds to it
local function fixed_len(type, flags)
	local more = (type == PACK or type == SNAK) and has(flags, ECN)
	return (FIXED[type] or 0) + (more and 8 or 0)
end

-- Each function returns the reason for which a receiver drops a packet, or nil.
local check = {}
local parse

-- Checks as sstp_parse_data() does.
check[DATA] = function(p)
	local n = p.len - FIXED[DATA]
	if n == 0 then
		return "no data"
	elseif p.seglen > SEGMENT_MAX then
		return "segment too long"
	elseif n > p.seglen then
		return "more data than the segment has"
	elseif p.word >= PACKETS_MAX then
		return "packet number too high"
	end
	p.bytes = n
	if has(p.flags, LAST) then
		local before = p.seglen - n
		p.packets = p.word + 1
		if p.word == 0 then
			return before ~= 0 and "the only packet is not the whole segment" or nil
		elseif before < p.word * n then
			return "the last packet is longer than those before it"
		elseif before % p.word ~= 0 then
			return "the packets before the last are not equal"
		end
		return nil
	end
	p.packets = math.floor((p.seglen + n - 1) / n)
	if (p.word + 1) * n >= p.seglen then
		return "reaches to the end of the segment, but is not the last packet"
	elseif p.packets > PACKETS_MAX then
		return "the segment has too many packets"
	end
end

-- Checks as sstp_parse_ack() does, and sstp_parse_data() what follows. Fields end where one is not
-- there in full, as sstp_parse_fields() has it.
check[PACK] = function(p, s)
	local at = fixed_len(PACK, p.flags)
	p.list = {}
	if p.word ~= 0 then
		return "a PACK has no entries"
	elseif has(p.flags, RIDES) then
		local data = parse(s, p.at + at, p.len - at)
		local kind = data.len == FIXED[EOS] and EOS or DATA
		if data.type ~= kind or data.cid ~= p.cid or data.problem then
			return "neither a DATA packet nor an EOS follows that is well-formed"
		end
		p.rides = true
		return nil
	end
	while p.len - at >= 2 and p.len - at - 2 >= number(s, p.at + at + 1, 1) do
		local o = { at = at, type = number(s, p.at + at, 1), len = number(s, p.at + at + 1, 1) }
		o.size = 2 + o.len
		p.list[#p.list + 1] = o
		at = at + o.size
	end
end

-- Checks as sstp_parse_ack() does. p.list has the entries before a malformed one, and
-- that one if it lies within the packet.
check[SNAK] = function(p, s)
	local at, stop, next = fixed_len(SNAK, p.flags), p.len, 0
	p.list = {}
	if has(p.flags, RIDES) then
		return "no packet follows a SNAK"
	end
	for i = 1, p.word do
		if stop - at < 8 then
			return "entry " .. i .. " is beyond the end"
		end
		local e = {
			at = at, segment = number(s, p.at + at, 4),
			first = number(s, p.at + at + 4, 2), bits = number(s, p.at + at + 6, 2),
		}
		e.size = 8 + words(e.bits) * 4
		if stop - at < e.size then
			return "the bitmap of entry " .. i .. " is beyond the end"
		end
		p.list[i] = e
		if e.first + e.bits > PACKETS_MAX + 1 then
			return "entry " .. i .. " asks for packets that no segment has"
		end
		local from = serial(e.segment, p.list[1].segment)
		local pos = from * 65536 + (e.bits > 0 and e.first or 0)
		if from < 0 or pos < next then
			return "entry " .. i .. " is not behind the one before"
		end
		next = pos + (e.bits > 0 and e.bits or e.first * 65536)
		at = at + e.size
	end
	if p.word == 0 then
		return "a SNAK without entries"
	elseif at ~= stop then
		return "the entries do not fill the packet"
	end
end

-- Accepts the characters that the kernel's isgraph() does, which include Latin-1.
local function is_name(s, at, len)
	if len < 1 or len > 15 then
		return false
	end
	for i = at + 1, at + len do
		local c = s:byte(i)
		if c <= 32 or c >= 127 and c <= 160 then
			return false
		end
	end
	return true
end

local function option_is_wrong(s, at, type, len)
	if OPTION_LEN[type] and len ~= OPTION_LEN[type] then
		return "has a wrong length"
	elseif type == OPT_SEGMENT then
		local value = number(s, at, 4)
		return (value == 0 or value > SEGMENT_MAX) and "is out of range"
	elseif type == OPT_TOLERANCE then
		return number(s, at, 4) > 1000000 and "is out of range"
	elseif type == OPT_STRATEGY then
		return s:byte(at + 1) > 1 and "is out of range"
	elseif type == OPT_CONTROLLER or type == OPT_POLICY then
		return not is_name(s, at, len) and "is no name"
	end
	return false
end

local function option_name(type)
	return OPTIONS[type] or string.format("option %d", type)
end

-- Checks as sstp_parse_init() does. p.list has the options up to a malformed one.
check[INIT] = function(p, s)
	local at, seen = FIXED[INIT], {}
	local stop = at + p.word
	p.list = {}
	if p.len > 2 * INIT_LEN then
		return "longer than 512 bytes"
	elseif stop > p.len then
		return "the options reach beyond the end"
	elseif p.type == INIT and p.len < INIT_LEN then
		return "an INIT has 256 bytes at least"
	elseif p.own == 0 then
		return "the CID of the sender is 0"
	elseif p.dport == 0 then
		return "the destination port is 0"
	elseif p.limit < LIMIT_MIN or p.limit > SEGMENT_MAX then
		return "the largest segment is out of range"
	end
	while at < stop do
		local o = { at = at, type = number(s, p.at + at, 1) }
		if o.type == OPT_PAD then
			o.size = 1
		elseif at + 1 == stop then
			return "an option without a length"
		else
			o.len = number(s, p.at + at + 1, 1)
			o.size = 2 + o.len
			if at + o.size > stop then
				return option_name(o.type) .. " reaches beyond the options"
			end
			p.list[#p.list + 1] = o
			if o.type < 32 and seen[o.type] then
				return option_name(o.type) .. " is there twice"
			end
			seen[o.type] = true
			local wrong = option_is_wrong(s, p.at + at + 2, o.type, o.len)
			if wrong then
				return option_name(o.type) .. " " .. wrong
			end
		end
		at = at + o.size
	end
end
check[INIT_ACK] = check[INIT]

-- Checks as sstp_parse_message() does.
check[MESSAGE] = function(p, s)
	if p.len > MESSAGE_LEN then
		return "longer than 80 bytes"
	elseif p.word ~= 0 then
		return nil
	elseif p.len ~= STATE_LEN then
		return "a state has 44 bytes"
	elseif has(p.flags, BACK) then
		return "a state is not of a receiving half"
	elseif number(s, p.at + 28, 1) > 1 then
		return "the receiving half is out of range"
	end
	local name = s:sub(p.at + 30, p.at + 44)
	local stop = name:find("\0", 1, true) or 16
	if not is_name(s, p.at + 29, stop - 1) then
		return "the controller has no name"
	elseif name:find("[^%z]", stop) then
		return "bytes follow the name"
	end
end

-- Parses the packet of len bytes at offset at of s. If s has less than len bytes, the
-- capture cut the packet: then "cut" is set, and only the captured part is parsed.
function parse(s, at, len)
	local p = { at = at, len = len, have = math.min(len, #s - at), rel = {} }
	p.cut = p.have < len
	if len < 8 then
		p.problem = "too short for a header"
	end
	if p.have < 8 then
		return p
	end
	p.cid, p.type = number(s, at, 4), number(s, at + 4, 1)
	p.flags, p.word = number(s, at + 5, 1), number(s, at + 6, 2)
	if not TYPES[p.type] then
		p.problem = string.format("type %d is not known", p.type)
		return p
	end
	local fixed = fixed_len(p.type, p.flags)
	if len < fixed then
		p.problem = TYPES[p.type] .. string.format(" has %d bytes at least", fixed)
	end
	if p.have < fixed then
		return p
	end
	for _, part in ipairs(LAYOUTS[p.type]) do
		p[part[1]] = number(s, at + part[3], part[4])
	end
	if fixed > FIXED[p.type] then
		for _, part in ipairs(ECN_LAYOUT) do
			p[part[1]] = number(s, at + part[3], part[4])
		end
	end
	p.whole = true			-- the fixed part was captured
	if not p.cut and check[p.type] then
		p.problem = check[p.type](p, s)
	elseif p.type == DATA then
		p.bytes = len - fixed
	end
	return p
end

-- Returns the packets that an entry requests, as runs of numbers (the first
-- RUNS_SHOWN + 1 of them), and the number of these packets in all.
local function missing(s, at, e)
	local runs, count, start = {}, 0, nil
	local function stop_at(packet)
		if start then
			count = count + packet - start
			if #runs <= RUNS_SHOWN then
				runs[#runs + 1] = { start, packet - 1 }
			end
			start = nil
		end
	end
	local i = 0
	while i < e.bits do
		local byte = s:byte(at + e.at + 8 + math.floor(i / 8) + 1)
		if byte == 255 then
			stop_at(e.first + i)
		elseif byte == 0 then
			start = start or e.first + i
		else
			local mask = 128
			for bit = i, math.min(i + 7, e.bits - 1) do
				if has(byte, mask) then
					stop_at(e.first + bit)
				else
					start = start or e.first + bit
				end
				mask = math.floor(mask / 2)
			end
		end
		i = i + 8
	end
	stop_at(e.first + e.bits)
	return runs, count
end

local function runs_text(runs, most)
	local words = {}
	for i = 1, math.min(#runs, most) do
		local a, b = runs[i][1], runs[i][2]
		words[i] = a == b and string.format("%d", a) or string.format("%d-%d", a, b)
	end
	if #runs > most then
		words[#words + 1] = "..."
	end
	return #words > 0 and table.concat(words, ", ") or "none"
end

local function bit_is_clear(map, bit)
	return not has(map:byte(math.floor(bit / 8) + 1), 2 ^ (7 - bit % 8))
end

-- --- connections --------------------------------------------------------------

-- Wireshark dissects a frame again whenever it shows it. State of connections is learned
-- only the first time; later the results are looked up in "frames".
local connections		-- number of connections
local cids			-- "address|port|CID" of an end: { connection, end }
local halves			-- pair of addresses: connections of which one CID is unknown
local frames			-- frame number: offset in the frame: results of learn()

local function forget()
	connections, cids, halves, frames = 0, {}, {}, {}
end
forget()
sstp.init = forget

local function cid_key(host, cid)
	return host .. "|" .. cid
end

-- An end of a connection, as a sender: its CID, initial numbers and largest segment if
-- known; its last shipment; frames by timestamp; the SNAK entries that it received; the
-- size of its packets by segment; and by segment when it was split anew.
local function new_end(host)
	return { host = host, stamps = {}, asked = {}, asked_whole = {}, sizes = {}, splits = {} }
end

local function pair_key(a, b)
	return a < b and a .. " " .. b or b .. " " .. a
end

local function new_connection(a, b)
	local c = { number = connections, [1] = new_end(a), [2] = new_end(b) }
	connections = connections + 1
	local key = pair_key(a, b)
	local list = halves[key] or {}
	halves[key] = list
	list[#list + 1] = c
	if #list > HALVES_KEPT then
		table.remove(list, 1)
	end
	return c
end

local function forget_half(c)
	local list = halves[pair_key(c[1].host, c[2].host)]
	for i = #list, 1, -1 do
		if list[i] == c then
			table.remove(list, i)
		end
	end
end

local function set_cid(c, which, cid)
	local e = c[which]
	if e.cid == cid then
		return
	end
	e.cid = cid
	cids[cid_key(e.host, cid)] = { c, which }
	if c[3 - which].cid then
		forget_half(c)
	end
end

local function is_near(a, b)
	return a and b and math.abs(serial(a, b)) < 65536
end

-- Returns a connection in which the CID of the owner is not known, and the owner's end in
-- it: one between the same hosts, but not "except", with numbers near the packet's.
local function find_half(p, owner, other, except)
	for _, c in ipairs(halves[pair_key(owner, other)] or {}) do
		for which = 1, 2 do
			local from, to = c[3 - which], c[which]
			if c ~= except and not to.cid and
			   to.host == owner and from.host == other and
			   (is_near(p.shipment, from.shipment) or
			    is_near(p.highest, to.shipment)) then
				return c, which
			end
		end
	end
end

-- Finds the connection of a packet with a CID whose setup was not captured: one between
-- the same hosts whose other direction has numbers near the packet's, or a new one.
local function adopt(p, owner, other)
	local c, which = find_half(p, owner, other)
	if not c then
		c, which = new_connection(owner, other), 1
	end
	set_cid(c, which, p.cid)
	return c, 3 - which
end

-- Adds what is known of an end to another object of the same end.
local function merge_end(e, other)
	for name, value in pairs(other) do
		if e[name] == nil then
			e[name] = value
		elseif type(value) == "table" then
			for key, v in pairs(value) do
				e[name][key] = v
			end
		end
	end
end

-- A connection is begun for each direction if the first packets of both have no number in
-- common. A later PACK or SNAK names numbers of the other direction: returns the
-- connection into which this one is then merged, and the end that sent the packet.
local function join(p, c, from)
	local owner = c[3 - from]
	local whole, which = find_half(p, owner.host, c[from].host, c)
	if not whole then
		return c, from
	end
	set_cid(whole, which, p.cid)
	merge_end(whole[which], owner)
	merge_end(whole[3 - which], c[from])
	whole.number = math.min(whole.number, c.number)
	c.joined = whole
	forget_half(c)
	return whole, 3 - which
end

local function is_stray(p)
	return p.type == RESET and has(p.flags, STRAY)
end

-- Returns the connection of a packet and the end that sent it. A malformed packet
-- creates no connection.
local function find_connection(p, src, dst, well_formed)
	local known
	if p.type == INIT then
		known = p.own and cids[cid_key(src, p.own)]
		-- The same initial shipment: a retransmitted INIT
		if known and known[1][known[2]].shipment0 == p.shipment then
			return known[1], known[2]
		elseif not well_formed then
			return nil
		end
		local c = new_connection(src, dst)
		set_cid(c, 1, p.own)
		return c, 1
	end
	local owner, other = dst, src
	if is_stray(p) then
		owner, other = src, dst
	end
	known = cids[cid_key(owner, p.cid)]
	local c, from
	if known then
		c, from = known[1], 3 - known[2]
		if well_formed and not c[from].cid and not is_stray(p) then
			c, from = join(p, c, from)
		end
	elseif well_formed then
		c, from = adopt(p, owner, other)
	else
		return nil
	end
	return c, is_stray(p) and 3 - from or from
end

local function learn_init(p, c, from)
	set_cid(c, from, p.own)
	local e = c[from]
	e.shipment0, e.segment0, e.limit = p.shipment, p.segment, p.limit
	e.shipment = e.shipment or (p.shipment - 1) % U32
end

-- Stores the entries of a SNAK for find_asked().
local function learn_asked(p, s, e, answer)
	for _, entry in ipairs(p.list) do
		local list = e.asked_whole
		local a = { answer = answer, segment = entry.segment, first = entry.first }
		if entry.bits > 0 then
			list = e.asked[entry.segment] or {}
			e.asked[entry.segment] = list
			a.bits = entry.bits
			a.map = s:sub(p.at + entry.at + 9, p.at + entry.at + entry.size)
		end
		list[#list + 1] = a
	end
end

local function later_answer(a, b)
	return a and b and (a.asked_in > b.asked_in and a or b) or a or b
end

-- Returns the last SNAK that requested a whole segment.
local function find_asked_whole(segment, e)
	local list = e.asked_whole
	for i = #list, math.max(1, #list - 4 * ASKED_KEPT + 1), -1 do
		local a, n = list[i], serial(segment, list[i].segment)
		if n >= 0 and n < a.first then
			return a.answer
		end
	end
end

-- A sender that splits a segment anew ships all of its packets again, also those that no
-- SNAK requested, and the numbers in earlier SNAKs are of other packets. Remembers the
-- last SNAK that requested some of the segment before.
local function learn_split(p, e, now)
	local size = p.bytes
	if has(p.flags, LAST) then
		size = p.word > 0 and (p.seglen - p.bytes) / p.word or p.seglen
	end
	local before = e.sizes[p.segment]
	e.sizes[p.segment] = size
	if before and before ~= size then
		local list, old = e.asked[p.segment], e.splits[p.segment]
		local answer = later_answer(list and list[#list].answer,
					    find_asked_whole(p.segment, e))
		e.splits[p.segment] = { frame = now, answer = answer or old and old.answer }
		e.asked[p.segment] = nil
	end
end

-- Returns the last SNAK that requested a packet or, if there is none since its segment was
-- split anew, the last one before that requested some of the segment.
local function find_asked(p, e)
	local found
	local list = e.asked[p.segment] or {}
	for i = #list, math.max(1, #list - ASKED_KEPT + 1), -1 do
		local a, bit = list[i], p.word - list[i].first
		if bit >= 0 and bit < a.bits and bit_is_clear(a.map, bit) then
			found = a.answer
			break
		end
	end
	local split, whole = e.splits[p.segment], find_asked_whole(p.segment, e)
	if whole and not (split and whole.asked_in < split.frame) then
		found = later_answer(found, whole)
	end
	return found or split and split.answer
end

local function find_echoed(p, e, r, now)
	local sent = e.stamps[p.echo]
	if sent then
		r.echo_of = sent.frame
		-- Round to nanoseconds, the resolution of captures.
		r.rtt = math.floor((now - sent.time) * 1e9 - p.hold * 1000 + 0.5) / 1e9
	end
end

-- Updates the state of a packet's connection, and returns the results that follow from it
-- for the packet. A packet quoted in an ICMP error updates nothing.
local function learn(p, s, pinfo, src, dst)
	local well_formed = p.whole and not p.problem and not pinfo.in_error_pkt
	local r = {}
	local c, from
	if p.type then
		c, from = find_connection(p, src, dst, well_formed)
	end
	if not c then
		return r
	end
	r.connection = c
	if not well_formed then
		return r
	end
	local e, peer = c[from], c[3 - from]
	if p.type == INIT or p.type == INIT_ACK then
		learn_init(p, c, from)
		if p.type == INIT_ACK then
			find_echoed(p, peer, r, pinfo.rel_ts)
		end
	elseif p.type <= EOS then
		local newest = not e.shipment or serial(p.shipment, e.shipment) > 0
		if newest then
			e.shipment = p.shipment
		end
		if p.type == DATA then
			if not p.cut and not has(p.flags, LAST) then
				e.size = p.len
			end
			if newest then
				learn_split(p, e, pinfo.number)
			end
			r.over_limit = peer.limit and p.seglen > peer.limit
			if has(p.flags, AGAIN) then
				r.answers = find_asked(p, e)
				if r.answers and not r.answers.answered_in then
					r.answers.answered_in = pinfo.number
				end
			end
		end
		r.segment_rel = e.segment0 and (p.segment - e.segment0) % U32
	elseif p.type <= SNAK then
		if has(p.flags, ECHO) then
			find_echoed(p, peer, r, pinfo.rel_ts)
		end
		peer.shipment = peer.shipment or p.highest
		r.base = peer.segment0
		if p.type == SNAK and not p.cut then
			r.asks = { asked_in = pinfo.number }
			learn_asked(p, s, peer, r.asks)
		end
	end
	if p.stamp then
		e.stamps[p.stamp] = { frame = pinfo.number, time = pinfo.rel_ts }
	end
	return r
end

-- --- trains -------------------------------------------------------------------

-- A capture on a host may show packets joined by GSO or GRO, without their boundaries.
-- Returns whether all len bytes are packets of size bytes, of which the last may be
-- shorter: each must be well-formed, and of the first packet's or of a known connection.
local function is_train(s, len, size, cid, src, dst)
	for at = 0, len - 1, size do
		local p = parse(s, at, math.min(size, len - at))
		if p.problem or p.cid ~= cid and
		   not cids[cid_key(is_stray(p) and src or dst, p.cid)] then
			return false
		end
	end
	return true
end

-- Returns the length of each packet but the last, or nil if there is only one packet.
local function train_size(s, len, src, dst)
	local p = parse(s, 0, len)
	if not p.whole or p.cut then
		return nil
	end
	local function works(size)
		return size and size < len and is_train(s, len, size, p.cid, src, dst)
	end
	local size
	if p.type == INIT then
		size = INIT_LEN
	elseif p.type == INIT_ACK then
		size = FIXED[p.type] + p.word
	elseif p.type == SNAK then
		local e = p.list[p.word]
		size = e and e.at + e.size
	elseif p.rides then
		local data = parse(s, fixed_len(p.type, p.flags), len)
		size = data.type == EOS and fixed_len(p.type, p.flags) + FIXED[EOS] or
		       has(data.flags, LAST) and data.word == 0 and
		       fixed_len(p.type, p.flags) + FIXED[DATA] + data.seglen
	elseif p.type ~= DATA then
		size = fixed_len(p.type, p.flags)
	elseif has(p.flags, LAST) and p.word == 0 then
		size = FIXED[DATA] + p.seglen
	else
		local known = cids[cid_key(dst, p.cid)]
		size = known and known[1][3 - known[2]].size
	end
	if works(size) then
		return size
	elseif p.type ~= DATA or p.cid == 0 then
		return nil
	end
	local cid = s:sub(1, 4)
	local at = s:find(cid, FIXED[DATA] + 2, true)
	while at and at + 7 <= len do
		if works(at - 1) then
			return at - 1
		end
		at = s:find(cid, at + 1, true)
	end
	return nil
end

-- --- what is shown ------------------------------------------------------------

local function relative(n, base)
	return base and (n - base) % U32 or n
end

local function flag_names(flags, names)
	local set = {}
	for _, name in ipairs(names) do
		if has(flags, name[2]) then
			set[#set + 1] = name[1]
		end
	end
	return #set > 0 and " [" .. table.concat(set, ", ") .. "]" or ""
end

local function entry_text(e, base)
	local segment = relative(e.segment, base)
	if e.bits > 0 then
		return string.format("seg %d pkt %s", segment, e.listed)
	elseif e.first == 1 then
		return string.format("seg %d", segment)
	end
	return string.format("%d seg from %d", e.first, segment)
end

local summary = {}

summary[DATA] = function(p, r)
	return string.format("DATA seg %d pkt %d%s len %d", r.segment_rel or p.segment, p.word,
			     p.packets and string.format("/%d", p.packets) or "", p.bytes) ..
	       flag_names(p.flags, { { "AGAIN", AGAIN }, { "LAST", LAST }, { "ACK", ACK },
				     { "EOR", EOR } })
end

summary[KEEPALIVE] = function(p, r)
	return string.format("KEEPALIVE next seg %d pkt %d", r.segment_rel or p.segment, p.word) ..
	       flag_names(p.flags, { { "ACK", ACK } })
end

summary[EOS] = function(p, r)
	return string.format("EOS seg %d", r.segment_rel or p.segment) ..
	       flag_names(p.flags, { { "ACK", ACK } })
end

summary[PACK] = function(p, r)
	return string.format("%s R_l %d R_h %d", TYPES[p.type], relative(p.ack, r.base),
			     relative(p.limit, r.base)) ..
	       (p.progress > 0 and string.format(" pkt %d", p.progress) or "") ..
	       (has(p.flags, SEGMENT) and
		string.format(" accepts seg %d", relative(p.accepted, r.base)) or "") ..
	       flag_names(p.flags, { { "SOFT", SOFT } })
end

summary[SNAK] = function(p, r)
	local asks = {}
	for i, e in ipairs(p.list or {}) do
		if i > 3 then
			asks[i] = "..."
			break
		end
		asks[i] = entry_text(e, r.base)
	end
	return summary[PACK](p, r) .. " asks for " .. table.concat(asks, "; ")
end

summary[INIT] = function(p)
	local names = {}
	for _, o in ipairs(p.list or {}) do
		names[#names + 1] = option_name(o.type)
	end
	return string.format("%s port %d to %d %s window %d", TYPES[p.type], p.sport, p.dport,
			     SKTYPES[p.sktype] or "socket type not known", p.window) ..
	       (#names > 0 and " [" .. table.concat(names, ", ") .. "]" or "")
end
summary[INIT_ACK] = summary[INIT]

summary[RESET] = function(p)
	return "RESET " .. (CODES[p.code] or string.format("code %d", p.code)) ..
	       flag_names(p.flags, { { "STRAY", STRAY } })
end

summary[MESSAGE] = function(p)
	local flags = flag_names(p.flags, { { "BACK", BACK }, { "ASK", ASK } })
	if p.word == 0 then
		return string.format("MESSAGE state %d", p.state) .. flags
	end
	return string.format("MESSAGE kind %d len %d", p.word, p.len - FIXED[MESSAGE]) .. flags
end

local function summarize(p, r)
	local name = p.type and (TYPES[p.type] or string.format("type %d", p.type)) or "packet"
	if p.problem then
		return name .. " [malformed: " .. p.problem .. "]"
	elseif not p.whole then
		return name .. " [cut off]"
	end
	return (summary[p.type] and summary[p.type](p, r) or name) .. (p.cut and " [cut off]" or "")
end

-- Returns a line for a train: consecutive DATA packets of a segment are one piece.
local function summarize_train(list, results)
	local pieces, i = {}, 1
	while i <= #list and #pieces < 5 do
		local p, last = list[i], i
		local sum = p.bytes
		while p.type == DATA and last < #list do
			local q = list[last + 1]
			if q.type ~= DATA or q.cid ~= p.cid or q.segment ~= p.segment or
			   q.word ~= list[last].word + 1 then
				break
			end
			last, sum = last + 1, sum + q.bytes
		end
		if last > i then
			pieces[#pieces + 1] = string.format("DATA seg %d pkt %d-%d/%d len %d",
				results[i].segment_rel or p.segment, p.word, list[last].word,
				p.packets, sum)
		else
			pieces[#pieces + 1] = summarize(p, results[i])
		end
		i = last + 1
	end
	if i <= #list then
		pieces[#pieces + 1] = "..."
	end
	return string.format("%d packets: ", #list) .. table.concat(pieces, " | ")
end

local function show_flags(p, tree, tvb)
	local item = tree:add(f.flags, tvb(p.at + 5, 1))
	for _, field in ipairs(FLAGS[p.type] or {}) do
		item:add(field, tvb(p.at + 5, 1))
	end
end

local function show_options(p, tree, tvb)
	for _, o in ipairs(p.list) do
		local at = p.at + o.at
		local item = tree:add(f.option, tvb(at, 1))
		item:set_len(o.size)
		item:add(f.option_len, tvb(at + 1, 1))
		local known = OPTION_FIELDS[o.type]
		-- A known option with another length is malformed: it is shown as bytes.
		if known and o.len > 0 and o.len == (OPTION_LEN[o.type] or o.len) then
			local size = #known > 1 and 4 or o.len
			for _, part in ipairs(known) do
				item:add(part[1], tvb(at + 2 + part[2], size))
			end
		elseif o.len > 0 then
			item:add(f.option_value, tvb(at + 2, o.len))
		end
	end
end

local function show_fields(p, tree, tvb)
	for _, o in ipairs(p.list) do
		local at = p.at + o.at
		local item = tree:add(f.field, tvb(at, 1))
		item:set_len(o.size)
		item:add(f.field_len, tvb(at + 1, 1))
		local known = FIELD_FIELDS[o.type]
		if known and o.len >= FIELD_LEN then
			item:add(known[1], tvb(at + 2, 4))
			if known[2] then
				item:add(known[2], tvb(at + 6, 4))
			end
		elseif o.len > 0 then
			item:add(f.field_value, tvb(at + 2, o.len))
		end
	end
end

local function show_entries(p, r, s, tree, tvb)
	for _, e in ipairs(p.list) do
		local at = p.at + e.at
		local item = tree:add(tvb(at, e.size), "Entry")
		item:add(f.snak_segment, tvb(at, 4))
		if r.base then
			item:add(f.segment_rel, tvb(at, 4),
				 relative(e.segment, r.base)):set_generated()
		end
		if e.bits > 0 then
			local runs, count = missing(s, p.at, e)
			e.listed = runs_text(runs, RUNS_LISTED)
			item:add(f.snak_first, tvb(at + 4, 2))
			item:add(f.snak_bits, tvb(at + 6, 2))
			local map = tvb(at + 8, e.size - 8)
			item:add(f.snak_map, map)
			item:add(f.snak_missing, map, runs_text(runs, RUNS_SHOWN)):set_generated()
			item:add(f.snak_count, map, count):set_generated()
		else
			item:add(f.snak_segments, tvb(at + 4, 2))
			item:add(f.snak_bits, tvb(at + 6, 2))
		end
		item:set_text("Entry: " .. entry_text(e, r.base))
	end
end

-- Shows computed numbers, and links to other frames.
local function show_results(p, r, tree)
	local function add(field, value)
		if value then
			tree:add(field, value):set_generated()
		end
	end
	if p.type <= EOS then
		add(f.segment_rel, r.segment_rel)
		if p.type == DATA then
			add(f.data_len, p.bytes)
			add(f.packets, p.packets)
		end
	elseif p.type <= SNAK then
		add(f.ack_rel, r.base and relative(p.ack, r.base))
		add(f.window, math.max(serial(p.limit, p.ack) + 1, 0))
	end
	add(f.echo_of, r.echo_of)
	add(f.rtt, r.rtt)
	add(f.asked_in, r.answers and r.answers.asked_in)
	add(f.answered_in, r.asks and r.asks.answered_in)
end

local function show_experts(p, r, tree)
	if p.problem then
		tree:add_proto_expert_info(x.malformed, "Malformed: " .. p.problem)
		return
	elseif p.cut then
		tree:add_proto_expert_info(x.cut)
	end
	if not p.whole then
		return
	end
	if p.type == DATA then
		if has(p.flags, AGAIN) then
			tree:add_proto_expert_info(x.again)
		end
		if r.over_limit then
			tree:add_proto_expert_info(x.over_limit)
		end
	elseif p.type == SNAK then
		tree:add_proto_expert_info(x.asks)
	elseif p.type == RESET then
		tree:add_proto_expert_info(x.reset)
	elseif (p.type == INIT or p.type == INIT_ACK) and
	       (p.version ~= 1 or not SKTYPES[p.sktype]) then
		tree:add_proto_expert_info(x.version)
	end
	if (p.type == PACK or p.type == SNAK) and serial(p.limit, p.ack) < 0 then
		tree:add_proto_expert_info(x.closed)
	end
end

-- Shows the captured part of a packet; of a malformed one only fields that lie within it.
local function show(p, r, s, tree, tvb)
	local shown = math.min(8, p.have)
	if r.connection then
		local c = r.connection.joined or r.connection
		tree:add(f.stream, c.number):set_generated()
	end
	if p.type then
		tree:add(f.cid, tvb(p.at, 4))
		tree:add(f.type, tvb(p.at + 4, 1))
		show_flags(p, tree, tvb)
		tree:add(WORD[p.type] or f.reserved, tvb(p.at + 6, 2))
		for _, part in ipairs(LAYOUTS[p.type] or {}) do
			if part[3] + part[4] <= p.have then
				tree:add(part[2], tvb(p.at + part[3], part[4]))
				shown = part[3] + part[4]
			end
		end
		if fixed_len(p.type, p.flags) > (FIXED[p.type] or 0) then
			for _, part in ipairs(ECN_LAYOUT) do
				if part[3] + part[4] <= p.have then
					tree:add(part[2], tvb(p.at + part[3], part[4]))
					shown = part[3] + part[4]
				end
			end
		end
	else
		shown = 0
	end
	if p.whole then
		show_results(p, r, tree)
		if p.type == COOKIE then
			tree:add(f.cookie, tvb(p.at + 8, 16))
		elseif p.type == DATA and p.have > FIXED[DATA] then
			tree:add(f.data, tvb(p.at + FIXED[DATA], p.have - FIXED[DATA]))
			shown = p.have
		elseif p.type == MESSAGE and not p.problem and not p.cut then
			if p.word == 0 then
				for _, part in ipairs(STATE_LAYOUT) do
					tree:add(part[1], tvb(p.at + part[2], part[3]))
				end
			elseif p.len > FIXED[MESSAGE] then
				tree:add(f.message_data, tvb(p.at + FIXED[MESSAGE], p.len - FIXED[MESSAGE]))
			end
			shown = p.have
		end
		shown = math.max(shown, fixed_len(p.type, p.flags))
		local last = p.list and p.list[#p.list]
		if last then
			shown = last.at + last.size
			if p.type == SNAK then
				show_entries(p, r, s, tree, tvb)
			elseif p.type == PACK then
				show_fields(p, tree, tvb)
			else
				show_options(p, tree, tvb)
			end
		end
	end
	if shown < p.have and not p.cut then
		tree:add(f.trailing, tvb(p.at + shown, p.have - shown))
	end
	show_experts(p, r, tree)
end

function sstp.dissector(tvb, pinfo, tree)
	local s, len = tvb:raw(), tvb:reported_len()
	local src = tostring(pinfo.src) .. "|" .. pinfo.src_port
	local dst = tostring(pinfo.dst) .. "|" .. pinfo.dst_port
	-- A frame may hold several datagrams: quoted by an ICMP error, or in a tunnel.
	local of_frame = frames[pinfo.number] or {}
	frames[pinfo.number] = of_frame
	local known = of_frame[tvb:offset()]
	if not known then
		known = { size = train_size(s, len, src, dst) }
		of_frame[tvb:offset()] = known
	end

	local size = known.size or len
	local list = {}
	local function add(p)
		list[#list + 1] = p
		known[#list] = known[#list] or learn(p, s, pinfo, src, dst)
	end
	for at = 0, len - 1, size do
		local p = parse(s, at, math.min(size, len - at))
		if p.rides then
			local data, fixed = nil, fixed_len(p.type, p.flags)
			data = parse(s, at + fixed, p.len - fixed)
			p.len, p.have = fixed, fixed
			add(p)
			p = data
		end
		add(p)
	end

	pinfo.cols.protocol = "AFSSTP"
	local root = tree:add(sstp, tvb())
	if #list == 1 then
		show(list[1], known[1], s, root, tvb)
		local text = summarize(list[1], known[1])
		root:append_text(", " .. text)
		pinfo.cols.info = text
		return len
	end
	if known.size then
		root:add(f.train, #list):set_generated()
		root:add(f.train_size, size):set_generated()
	end
	for i, p in ipairs(list) do
		local item = root:add(sstp, tvb(p.at, p.len))
		show(p, known[i], s, item, tvb)
		item:set_text(summarize(p, known[i]))
	end
	local text = summarize_train(list, known)
	root:append_text(", " .. text)
	pinfo.cols.info = text
	return len
end

DissectorTable.get("udp.port"):add(PORT, sstp)
