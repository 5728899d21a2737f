# redis-rb by its defaults: `redis_rb.rb PORT`; see `defaults.md`.

require "json"
require "redis"

PORT = Integer(ARGV.fetch(0))
ROOM = "ruby"

def book(arrival, departure)
  ["ROOMS.BOOK", "bench", ROOM, arrival, departure, "ada", "234123412346"]
end

def equal(found, expected)
  abort "found    #{found.inspect}\nexpected #{expected.inspect}" unless found == expected
end

# What was decided.
def verdict(reply)
  reply[0] == 1 ? [:done, reply[2]] : [:refused, reply[1]]
end

DONE, SOLD_OUT = [:done, ROOM], [:refused, "sold_out"]
ECHOES = (0...20).map(&:to_s)

door = Redis.new(port: PORT)
equal(door.ping, "PONG")
equal(door.pipelined { |pipeline| ECHOES.each { |number| pipeline.echo(number) } }, ECHOES)
begin
  abort "no error: #{door.get("x").inspect}"
rescue Redis::CommandError => error
  equal(error.message.include?("unknown command"), true)
end
stay = book("2027-03-01", "2027-03-04")
equal([verdict(door.call(*stay)), verdict(door.call(*stay))], [DONE, SOLD_OUT])
replies = door.multi { |batch| 2.times { batch.call(*book("2027-04-01", "2027-04-02")) } }
equal(replies.map { |reply| verdict(reply) }, [DONE, SOLD_OUT])
Redis.new(port: PORT).subscribe("rooms.events") do |on|
  on.subscribe { door.call(*book("2027-05-01", "2027-05-02")) }
  on.message do |_channel, message|
    event = JSON.parse(message)
    equal([event["kind"], event["room"]], ["booked", ROOM])
    puts "ok"
    exit!(0) if $stdout.flush
  end
end
