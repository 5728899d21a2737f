#!lua name=turnstile_rooms

-- Rooms, decided whole: Redis runs one function at a time, and nothing else meanwhile.
--
-- All keys begin with the first key of the call, `{rooms}/`, so that they lie in one slot of a cluster:
--   properties              hash: property -> open or closed
--   rooms/PROPERTY          hash: room -> type
--   types/PROPERTY          hash: type -> number of rooms
--   order/PROPERTY          sorted set of added rooms: what sorts them, a zero byte, the room
--   loose/PROPERTY          sorted set of rooms that were only named, by when
--   number/PROPERTY         no room of the property has a lower number as its name
--   nights/PROPERTY/ROOM    hash: night (days since 1970) -> number of the booking or hold
--   booking/NUMBER          hash: a booking or hold that stands, or a hold that can be confirmed late
--   deadlines               sorted set of holds: when they expire, or are forgotten
--   holds/PRINCIPAL         sorted set of open holds by when they expire
--   key/PRINCIPAL/KEY       hash: what was first answered under an idempotency key, as an answer of ours, or
--                           as encoded and the stable bytes where it was copied to here
--   position, reference     how many were given
--   ended                   hash: slot (the lower 32 bits of a number) -> the last generation (the upper
--                           ones) of those copied to here that has ended
--   totals                  hash: what was done, and what stands
--   cancellations           stream: bookings that a manager cancelled for the guest, by whom and why; the
--                           last 100,000 or some more

-- While the library is loaded there is no redis.call yet.
local function call(...) return redis.call(...) end

-- The limits of the machine, in its words; they come with each call.
local limits = {}

-- Whole numbers as text: Lua would write large ones with an exponent.
local function text(number)
  return string.format('%.0f', number)
end

local function split_limits(packed)
  local names = {'ttl_max', 'total_max', 'late', 'holds', 'rooms', 'open_rooms', 'key_ms'}
  local at = 1
  for number in string.gmatch(packed, '%d+') do
    limits[names[at]] = tonumber(number)
    at = at + 1
  end
end

local function count(base, what, by)
  call('HINCRBY', base .. 'totals', what, by)
end

local function nights_key(base, entry)
  return base .. 'nights/' .. entry.property .. '/' .. entry.room_number
end

local function read(base, number)
  local flat = call('HGETALL', base .. 'booking/' .. number)
  if #flat == 0 then return nil end
  local entry = {}
  for at = 1, #flat, 2 do entry[flat[at]] = flat[at + 1] end
  return entry
end

local function vacate(base, entry)
  local nights = {}
  for night = tonumber(entry.arrival), tonumber(entry.departure) - 1 do
    nights[#nights + 1] = night
  end
  call('HDEL', nights_key(base, entry), unpack(nights))
end

local function occupy(base, entry, number)
  local pairs_of = {}
  for night = tonumber(entry.arrival), tonumber(entry.departure) - 1 do
    pairs_of[#pairs_of + 1] = night
    pairs_of[#pairs_of + 1] = number
  end
  call('HSET', nights_key(base, entry), unpack(pairs_of))
end

local function close_hold(base, entry, number)
  call('ZREM', base .. 'holds/' .. entry.principal, number)
  count(base, 'holds', -1)
end

-- Leaves nothing under a number whose reference has ended. Those that were given here are known to have been
-- given; one that was copied to here, of a slot that had others before, is noted.
local function erase(base, number)
  call('DEL', base .. 'booking/' .. number)
  local whole = tonumber(number)
  if whole < 4294967296 then return end
  local slot = whole % 4294967296
  call('HSET', base .. 'ended', text(slot), text((whole - slot) / 4294967296))
end

-- Does what is due: holds end, and those that ended long ago are forgotten.
local function sweep(base, now)
  while true do
    local due = call('ZRANGEBYSCORE', base .. 'deadlines', '-inf', now, 'LIMIT', 0, 100)
    if #due == 0 then return end
    for _, number in ipairs(due) do
      local entry = read(base, number)
      if entry.state == 'held' then
        vacate(base, entry)
        close_hold(base, entry, number)
        call('HSET', base .. 'booking/' .. number, 'state', 'expired')
        call('ZADD', base .. 'deadlines', text(tonumber(entry['until']) + limits.late), number)
        count(base, 'expired_total', 1)
      else
        erase(base, number)
        call('ZREM', base .. 'deadlines', number)
      end
    end
  end
end

local function refused(...) return {'refused', ...} end

-- The entry with this number, or why there is none.
local function look_up(base, number)
  local entry = read(base, number)
  if entry then return entry end
  local given = tonumber(call('GET', base .. 'reference') or '0')
  local whole = tonumber(number)
  if whole < given then return nil, refused('ended') end
  local slot = whole % 4294967296
  local last = call('HGET', base .. 'ended', text(slot))
  if last and (whole - slot) / 4294967296 <= tonumber(last) then return nil, refused('ended') end
  return nil, refused('not_found')
end

-- One character for each night of a stay: 1 where the room is taken.
local function taken(base, property, room, stay)
  local nights = {}
  for night = stay.arrival, stay.departure - 1 do nights[#nights + 1] = night end
  local found = call('HMGET', base .. 'nights/' .. property .. '/' .. room, unpack(nights))
  local bits, free = {}, true
  for at = 1, #nights do
    bits[at] = found[at] and '1' or '0'
    free = free and not found[at]
  end
  return bits, free
end

local function is_full(base, property, open)
  local limit = open and limits.open_rooms or limits.rooms
  if call('HLEN', base .. 'rooms/' .. property) >= limit then
    return refused('too_many_rooms', text(limit))
  end
end

local function add_room(base, property, room, room_type)
  call('HSET', base .. 'rooms/' .. property, room, room_type)
  call('HINCRBY', base .. 'types/' .. property, room_type, 1)
  count(base, 'rooms', 1)
end

local function add_loose(base, property, room)
  local named = call('ZCARD', base .. 'loose/' .. property)
  add_room(base, property, room, 'open')
  call('ZADD', base .. 'loose/' .. property, named, room)
end

local function lowest_number(base, property)
  local number = tonumber(call('GET', base .. 'number/' .. property) or '1')
  while call('HEXISTS', base .. 'rooms/' .. property, text(number)) == 1 do number = number + 1 end
  call('SET', base .. 'number/' .. property, text(number))
  return text(number)
end

-- The property's kind, or why a wish cannot be one.
local function exists(base, property, wish)
  local kind = call('HGET', base .. 'properties', property)
  if not kind then return nil, refused('unknown_property') end
  local open = kind == 'open'
  if wish.kind == 'room' then
    if not open and call('HEXISTS', base .. 'rooms/' .. property, wish.name) == 0 then
      return nil, refused('unknown_room')
    end
  elseif wish.kind == 'type' then
    local known = call('HEXISTS', base .. 'types/' .. property, wish.name) == 1
    if not known and not (open and wish.name == 'open') then
      return nil, refused('unknown_type')
    end
  end
  return kind
end

-- Whether a room is one that a wish allows.
local function fits(base, property, room, wish)
  if wish.kind == 'room' then return wish.name == room end
  return wish.kind == 'any' or call('HGET', base .. 'rooms/' .. property, room) == wish.name
end

-- The first added room that fits and is free; or the nights on which none is.
local function search(base, property, wish, stay)
  local blocked = {}
  for at = 1, stay.departure - stay.arrival do blocked[at] = '1' end
  local types = {}
  if wish.kind == 'type' then
    local flat = call('HGETALL', base .. 'rooms/' .. property)
    for at = 1, #flat, 2 do types[flat[at]] = flat[at + 1] end
  end
  for _, member in ipairs(call('ZRANGE', base .. 'order/' .. property, 0, -1)) do
    local room = string.match(member, '.*%z(.*)$')
    if wish.kind == 'any' or types[room] == wish.name then
      local bits, free = taken(base, property, room, stay)
      if free then return room end
      for at, bit in ipairs(bits) do
        if bit == '0' then blocked[at] = '0' end
      end
    end
  end
  return nil, blocked
end

-- The room that a wish gets, or why it gets none.
local function target(base, property, kind, wish, stay)
  local room, blocked
  if wish.kind == 'room' then
    if call('HEXISTS', base .. 'rooms/' .. property, wish.name) == 1 then
      local bits, free = taken(base, property, wish.name, stay)
      if free then return wish.name end
      return nil, refused('sold_out', table.concat(bits), text(stay.arrival))
    end
  else
    room, blocked = search(base, property, wish, stay)
    if room then return room end
  end
  if kind == 'open' and not (wish.kind == 'type' and wish.name ~= 'open') then
    local full = is_full(base, property, true)
    if full then return nil, full end
    local new = wish.kind == 'room' and wish.name or lowest_number(base, property)
    add_loose(base, property, new)
    return new
  end
  return nil, refused('sold_out', table.concat(blocked), text(stay.arrival))
end

local function enter(base, context, fields)
  local number = text(call('INCR', base .. 'reference') - 1)
  fields.principal = context.principal
  fields.since = text(context.now)
  fields.position = context.position
  local flat = {}
  for name, value in pairs(fields) do
    flat[#flat + 1] = name
    flat[#flat + 1] = value
  end
  call('HSET', base .. 'booking/' .. number, unpack(flat))
  occupy(base, fields, number)
  return number
end

local function wish_of(kind, name) return {kind = kind, name = name} end

local function stay_of(arrival, departure)
  return {arrival = tonumber(arrival), departure = tonumber(departure)}
end

local decide = {}

function decide.add_property(base, _, property, kind)
  if call('HSETNX', base .. 'properties', property, kind) == 0 then
    return refused('property_exists')
  end
  return {'property_added'}
end

function decide.add_room(base, _, property, room, room_type, sorts)
  local kind = call('HGET', base .. 'properties', property)
  if not kind then return refused('unknown_property') end
  if call('HEXISTS', base .. 'rooms/' .. property, room) == 1 then return refused('room_exists') end
  local full = is_full(base, property, kind == 'open')
  if full then return full end
  if kind == 'open' and room_type == 'open' then
    add_loose(base, property, room)
  else
    add_room(base, property, room, room_type)
    call('ZADD', base .. 'order/' .. property, 0, sorts)
  end
  return {'room_added'}
end

function decide.book(base, context, property, kind, name, arrival, departure, date, guest, id, seal)
  local wish, stay = wish_of(kind, name), stay_of(arrival, departure)
  local open, missing = exists(base, property, wish)
  if not open then return missing end
  local room, full = target(base, property, open, wish, stay)
  if not room then return full end
  local number = enter(base, context, {
    state = 'booked', property = property, room_number = room, arrival = arrival,
    departure = departure, date = date, name = guest, id_number = id, seal = seal,
  })
  count(base, 'booked_total', 1)
  return {'booked', number, room}
end

local function bad_ttl(ttl)
  if ttl < 1 or ttl > limits.ttl_max then return refused('hold_too_long', text(limits.ttl_max)) end
end

function decide.hold(base, context, property, kind, name, arrival, departure, date, ttl_ms)
  local wish, stay, ttl = wish_of(kind, name), stay_of(arrival, departure), tonumber(ttl_ms)
  local open, missing = exists(base, property, wish)
  if not open then return missing end
  local bad = bad_ttl(ttl)
  if bad then return bad end
  local holds = base .. 'holds/' .. context.principal
  if call('ZCARD', holds) >= limits.holds then
    return refused('too_many_holds', text(limits.holds))
  end
  local room, full = target(base, property, open, wish, stay)
  if not room then return full end
  local ends = text(context.now + ttl)
  local number = enter(base, context, {
    state = 'held', property = property, room_number = room, arrival = arrival,
    departure = departure, date = date, ['until'] = ends, made = context.position,
  })
  call('ZADD', holds, ends, number)
  call('ZADD', base .. 'deadlines', ends, number)
  count(base, 'held_total', 1)
  count(base, 'holds', 1)
  return {'held', number, room, ends}
end

-- The open hold with this number, or why it is none.
local function open_hold(base, number)
  local entry, missing = look_up(base, number)
  if not entry then return nil, missing end
  if entry.state == 'expired' then return nil, refused('hold_expired') end
  if entry.state == 'booked' then return nil, refused('already_confirmed') end
  return entry
end

function decide.extend(base, context, number, ttl_ms)
  local entry, missing = open_hold(base, number)
  if not entry then return missing end
  local ttl = tonumber(ttl_ms)
  local bad = bad_ttl(ttl)
  if bad then return bad end
  local ends, ceiling = context.now + ttl, tonumber(entry.since) + limits.total_max
  if ends > ceiling then return refused('hold_ceiling', text(ceiling)) end
  ends = text(ends)
  call('HSET', base .. 'booking/' .. number, 'until', ends, 'position', context.position)
  call('ZADD', base .. 'holds/' .. entry.principal, ends, number)
  call('ZADD', base .. 'deadlines', ends, number)
  return {'extended', ends}
end

function decide.confirm(base, context, number, guest, id, seal)
  local entry, missing = look_up(base, number)
  if not entry then return missing end
  if entry.state == 'booked' then return refused('already_confirmed') end
  local late = entry.state == 'expired'
  if late then
    local stay = stay_of(entry.arrival, entry.departure)
    local _, free = taken(base, entry.property, entry.room_number, stay)
    if not free then return refused('hold_expired') end
    occupy(base, entry, number)
  else
    close_hold(base, entry, number)
  end
  call('ZREM', base .. 'deadlines', number)
  local key = base .. 'booking/' .. number
  call('HSET', key, 'state', 'booked', 'name', guest, 'id_number', id, 'seal', seal,
    'position', context.position)
  call('HDEL', key, 'until', 'made')
  count(base, 'booked_total', 1)
  return {'confirmed', number, entry.room_number, late and '1' or '0'}
end

function decide.release(base, _, number)
  local entry, missing = open_hold(base, number)
  if not entry then return missing end
  vacate(base, entry)
  close_hold(base, entry, number)
  call('ZREM', base .. 'deadlines', number)
  erase(base, number)
  return {'released'}
end

-- The booking with this number, or why it is none.
local function booked(base, number)
  local entry, missing = look_up(base, number)
  if not entry then return nil, missing end
  if entry.state ~= 'booked' then return nil, refused('not_confirmed') end
  return entry
end

local function end_booking(base, entry, number)
  vacate(base, entry)
  erase(base, number)
  count(base, 'cancelled_total', 1)
  return {'cancelled', entry.room_number, entry.arrival, entry.departure}
end

function decide.cancel(base, _, number, id, seal)
  local entry, missing = booked(base, number)
  if not entry then return missing end
  if entry.id_number ~= id or entry.seal ~= seal then return refused('wrong_guest') end
  return end_booking(base, entry, number)
end

function decide.cancel_for_guest(base, context, number, reason)
  local entry, missing = booked(base, number)
  if not entry then return missing end
  call('XADD', base .. 'cancellations', 'MAXLEN', '~', 100000, '*', 'booking', number,
    'principal', context.principal, 'at', text(context.now), 'reason', reason)
  return end_booking(base, entry, number)
end

-- Its own nights are not in the way of a booking that moves: it leaves them first, and takes them again where
-- it gets no others. It stays in its room where the wish and the nights allow that.
function decide.move(base, context, number, kind, name, arrival, departure, date, id, seal)
  local entry, missing = booked(base, number)
  if not entry then return missing end
  if entry.id_number ~= id or entry.seal ~= seal then return refused('wrong_guest') end
  local wish, stay = wish_of(kind, name), stay_of(arrival, departure)
  local open, unknown = exists(base, entry.property, wish)
  if not open then return unknown end
  local own, before = entry.room_number, {entry.arrival, entry.departure}
  vacate(base, entry)
  local room, full = own, nil
  local _, free = taken(base, entry.property, own, stay)
  if not (free and fits(base, entry.property, own, wish)) then
    room, full = target(base, entry.property, open, wish, stay)
  end
  if not room then
    occupy(base, entry, number)
    return full
  end
  entry.room_number, entry.arrival, entry.departure = room, arrival, departure
  occupy(base, entry, number)
  if room ~= own or arrival ~= before[1] or departure ~= before[2] then
    call('HSET', base .. 'booking/' .. number, 'room_number', room, 'arrival', arrival,
      'departure', departure, 'date', date, 'position', context.position)
  end
  return {'moved', room, own, before[1], before[2]}
end

-- How much longer than it counts what was answered under a key stays, in milliseconds: a copy that takes so
-- long finds at its end what it has seen at its beginning.
local FADING_MS = 60 * 60 * 1000

-- Keeps what was first answered under a key, and says how many fields are new.
local function remember(kept, at, content, position, answer)
  local new = call('HSET', kept, 'at', at, 'content', content, 'position', position,
    'answer', cmsgpack.pack(answer))
  call('PEXPIRE', kept, limits.key_ms + FADING_MS)
  return new
end

-- Whether a name is among some patterns, such as `hotel-1 acme:*`.
local function covers(patterns, name)
  for pattern in string.gmatch(patterns, '%S+') do
    if pattern == name then return true end
    local beginning = string.match(pattern, '^(.*)%*$')
    if beginning and string.sub(name, 1, #beginning) == beginning then return true end
  end
  return false
end

-- The operations whose first field is the number of a booking or hold.
local names_entry = {extend = true, confirm = true, release = true, cancel = true,
  cancel_for_guest = true, move = true}

-- Why a command is outside of its scope; nothing where it is not.
local function out_of_scope(base, principal, scope, number)
  if scope.own == '*' and scope.others == '*' then return nil end
  local entry = look_up(base, number)
  if not entry then return scope.own ~= '*' and 'names' or nil end
  if not covers(scope.own, entry.property) then return 'names' end
  if entry.principal ~= principal and not covers(scope.others, entry.property) then
    return 'holder'
  end
end

-- One command; what was first answered under its key, if it has one that is known.
local function one(base, now, principal, key, content, scope, operation, fields)
  sweep(base, now)
  local kept = key ~= '' and base .. 'key/' .. principal .. '/' .. key
  if kept then
    local first = call('HMGET', kept, 'at', 'content', 'position', 'answer')
    if first[1] and now - tonumber(first[1]) < limits.key_ms then
      if first[2] ~= content then return {'reused', first[3]} end
      return {'again', first[3], unpack(cmsgpack.unpack(first[4]))}
    end
  end
  local why = names_entry[operation] and out_of_scope(base, principal, scope, fields[1])
  if why then return {'forbidden', '0', why} end
  local position = text(call('INCR', base .. 'position'))
  local context = {now = now, principal = principal, position = position}
  local answer = decide[operation](base, context, unpack(fields))
  if kept then remember(kept, text(now), content, position, answer) end
  return {'first', position, unpack(answer)}
end

-- ARGV: now, the limits, then for each command: principal, key, content, the properties of the bookings and
-- holds that it may name, those that its principal holds and those of others, operation, how many fields,
-- and these.
redis.register_function('turnstile_rooms_execute', function(keys, argv)
  local base, now, answers, at = keys[1], tonumber(argv[1]), {}, 3
  split_limits(argv[2])
  while at <= #argv do
    local fields = {}
    for field = 1, tonumber(argv[at + 6]) do fields[field] = argv[at + 6 + field] end
    local scope = {own = argv[at + 3], others = argv[at + 4]}
    answers[#answers + 1] =
      one(base, now, argv[at], argv[at + 1], argv[at + 2], scope, argv[at + 5], fields)
    at = at + 7 + #fields
  end
  return answers
end)

-- ARGV: now, the limits. Does what is due, and answers the totals.
redis.register_function('turnstile_rooms_totals', function(keys, argv)
  local base = keys[1]
  split_limits(argv[2])
  sweep(base, tonumber(argv[1]))
  local names = {'booked_total', 'cancelled_total', 'held_total', 'expired_total', 'holds', 'rooms'}
  local found = call('HMGET', base .. 'totals', unpack(names))
  for at = 1, #names do found[at] = found[at] or '0' end
  found[#names + 1] = text(call('HLEN', base .. 'properties'))
  return found
end)

-- ARGV: now, the limits, a number. Answers how a look-up ends, and the entry's fields.
redis.register_function('turnstile_rooms_look_up', function(keys, argv)
  split_limits(argv[2])
  sweep(keys[1], tonumber(argv[1]))
  local entry, missing = look_up(keys[1], argv[3])
  if not entry then return missing end
  local flat = {'entry'}
  for name, value in pairs(entry) do
    flat[#flat + 1] = name
    flat[#flat + 1] = value
  end
  return flat
end)

-- ARGV: now, the limits, property, type or nothing, arrival, departure. Answers for each room its
-- type and one character for each night: 1 where it is taken.
redis.register_function('turnstile_rooms_availability', function(keys, argv)
  local base, property = keys[1], argv[3]
  split_limits(argv[2])
  sweep(base, tonumber(argv[1]))
  local wish = wish_of(argv[4] == '' and 'any' or 'type', argv[4])
  local kind, missing = exists(base, property, wish)
  if not kind then return missing end
  local stay, answer = stay_of(argv[5], argv[6]), {'rooms'}
  local flat = call('HGETALL', base .. 'rooms/' .. property)
  for at = 1, #flat, 2 do
    if wish.kind == 'any' or flat[at + 1] == wish.name then
      answer[#answer + 1] = flat[at + 1]
      answer[#answer + 1] = table.concat((taken(base, property, flat[at], stay)))
    end
  end
  return answer
end)

-- ARGV: property, how many steps. Looks on for the lowest number that is no name of a room, after rooms
-- were copied to here. Answers 1 when it is found.
redis.register_function('turnstile_rooms_number', function(keys, argv)
  local base, property = keys[1], argv[1]
  local number = tonumber(call('GET', base .. 'number/' .. property) or '1')
  for _ = 1, tonumber(argv[2]) do
    if call('HEXISTS', base .. 'rooms/' .. property, text(number)) == 0 then return 1 end
    number = number + 1
    call('SET', base .. 'number/' .. property, text(number))
  end
  return 0
end)

-- ARGV: now, the limits, then for each key that is copied to here: principal and key, at, content, position,
-- and the stable bytes of the outcome. Answers how many were not there.
redis.register_function('turnstile_rooms_remember', function(keys, argv)
  local new = 0
  split_limits(argv[2])
  for at = 3, #argv, 5 do
    local kept, answer = keys[1] .. 'key/' .. argv[at], {'encoded', argv[at + 4]}
    if remember(kept, argv[at + 1], argv[at + 2], argv[at + 3], answer) == 4 then new = new + 1 end
  end
  return new
end)

-- ARGV: now, the limits, then some principals and keys. Answers for each the content and what was first
-- answered.
redis.register_function('turnstile_rooms_remembered', function(keys, argv)
  local answers = {}
  for at = 3, #argv do
    local first = call('HMGET', keys[1] .. 'key/' .. argv[at], 'content', 'answer')
    answers[#answers + 1] = first[2] and {first[1], unpack(cmsgpack.unpack(first[2]))} or {}
  end
  return answers
end)
