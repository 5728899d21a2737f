// Every Java client by its defaults: `Defaults.java jedis|lettuce|redisson PORT`; see `defaults.md`.

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.output.CommandOutput;
import io.lettuce.core.output.NestedMultiOutput;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.ProtocolKeyword;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.redisson.Redisson;
import org.redisson.api.BatchOptions;
import org.redisson.api.RFuture;
import org.redisson.client.RedisException;
import org.redisson.client.codec.StringCodec;
import org.redisson.client.protocol.RedisCommand;
import org.redisson.client.protocol.decoder.ObjectListReplayDecoder;
import org.redisson.command.CommandAsyncExecutor;
import org.redisson.config.Config;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisPubSub;
import redis.clients.jedis.Response;
import redis.clients.jedis.exceptions.JedisDataException;

public class Defaults {
    /** A library with nothing set but host and port. */
    interface Door {
        /** Answers a reply; an error of the server is an exception. */
        Object ask(String... words) throws Exception;

        List<Object> pipeline(List<String[]> commands) throws Exception;

        List<Object> multi(List<String[]> commands) throws Exception;

        /** Follows rooms.events, does this, and answers the next message. */
        String hear(Runnable when) throws Exception;
    }

    static String room;

    public static void main(String[] arguments) throws Exception {
        String library = arguments[0];
        int port = Integer.parseInt(arguments[1]);
        room = "java-" + library;
        Door door =
                switch (library) {
                    case "jedis" -> new WithJedis(port);
                    case "lettuce" -> new WithLettuce(port);
                    case "redisson" -> new WithRedisson(port);
                    default -> throw new IllegalArgumentException(library);
                };
        equal(plain(door.ask("PING")), "PONG");
        List<String> echoes = IntStream.range(0, 20).mapToObj(Integer::toString).toList();
        List<String[]> commands = echoes.stream().map(number -> new String[] {"ECHO", number}).toList();
        equal(plain(door.pipeline(commands)), echoes);
        fails(door);
        String[] stay = book("2027-03-01", "2027-03-04");
        equal(verdict(door.ask(stay)), "done " + room);
        equal(verdict(door.ask(stay)), "refused sold_out");
        String[] inBatch = book("2027-04-01", "2027-04-02");
        List<Object> replies = door.multi(List.of(inBatch, inBatch));
        equal(replies.stream().map(Defaults::verdict).toList(), List.of("done " + room, "refused sold_out"));
        String message = door.hear(() -> done(door));
        equal(message.contains("\"kind\":\"booked\"") && message.contains("\"room\":\"" + room + "\""), true);
        System.out.println("ok");
        System.exit(0);
    }

    static void fails(Door door) throws Exception {
        try {
            throw new AssertionError("no error: " + door.ask("GET", "x"));
        } catch (JedisDataException | RedisCommandExecutionException | RedisException error) {
            equal(error.getMessage().contains("unknown command"), true);
        }
        equal(plain(door.ask("PING")), "PONG");
    }

    static void done(Door door) {
        try {
            equal(verdict(door.ask(book("2027-05-01", "2027-05-02"))), "done " + room);
        } catch (Exception failure) {
            throw new AssertionError(failure);
        }
    }

    static String[] book(String arrival, String departure) {
        return new String[] {"ROOMS.BOOK", "bench", room, arrival, departure, "ada", "234123412346"};
    }

    /** Bytes as text, at any depth. */
    static Object plain(Object value) {
        if (value instanceof byte[] bytes) return new String(bytes, StandardCharsets.UTF_8);
        if (value instanceof List<?> list) return list.stream().map(Defaults::plain).toList();
        if (value instanceof Map<?, ?> map) {
            Map<Object, Object> fields = new HashMap<>();
            map.forEach((name, field) -> fields.put(plain(name), plain(field)));
            return fields;
        }
        return value;
    }

    /** What was decided, in either form of an answer. */
    static String verdict(Object reply) {
        Object answer = plain(reply);
        if (answer instanceof List<?> list && "outcome".equals(list.get(0))) {
            Map<Object, Object> fields = new HashMap<>();
            for (int at = 0; at < list.size(); at += 2) fields.put(list.get(at), list.get(at + 1));
            answer = fields;
        }
        if (answer instanceof Map<?, ?> fields) {
            Object what = fields.get("outcome").equals("done") ? fields.get("room") : fields.get("reason");
            return fields.get("outcome") + " " + what;
        }
        List<?> fields = (List<?>) answer;
        boolean isDone = fields.get(0).equals(1L);
        return isDone ? "done " + fields.get(2) : "refused " + fields.get(1);
    }

    static void equal(Object found, Object expected) {
        if (!found.equals(expected)) {
            System.err.println("found    " + found + "\nexpected " + expected);
            System.exit(1);
        }
    }

    static String next(BlockingQueue<String> heard) throws InterruptedException {
        return heard.poll(30, TimeUnit.SECONDS);
    }

    static final class WithJedis implements Door {
        private final int port;
        private final Jedis jedis;

        WithJedis(int port) {
            this.port = port;
            jedis = new Jedis("127.0.0.1", port);
        }

        @Override
        public Object ask(String... words) {
            return jedis.sendCommand(() -> words[0].getBytes(StandardCharsets.UTF_8), behind(words));
        }

        @Override
        public List<Object> pipeline(List<String[]> commands) {
            try (var pipeline = jedis.pipelined()) {
                List<Response<Object>> replies = new ArrayList<>();
                for (String[] words : commands)
                    replies.add(pipeline.sendCommand(() -> words[0].getBytes(StandardCharsets.UTF_8), behind(words)));
                pipeline.sync();
                return replies.stream().map(Response::get).toList();
            }
        }

        @Override
        public List<Object> multi(List<String[]> commands) {
            try (var batch = jedis.multi()) {
                for (String[] words : commands)
                    batch.sendCommand(() -> words[0].getBytes(StandardCharsets.UTF_8), behind(words));
                return batch.exec();
            }
        }

        @Override
        public String hear(Runnable when) throws InterruptedException {
            BlockingQueue<String> heard = new LinkedBlockingQueue<>();
            JedisPubSub subscriber =
                    new JedisPubSub() {
                        @Override
                        public void onSubscribe(String channel, int count) {
                            new Thread(when).start();
                        }

                        @Override
                        public void onMessage(String channel, String message) {
                            heard.add(message);
                        }
                    };
            Thread follower = new Thread(() -> new Jedis("127.0.0.1", port).subscribe(subscriber, "rooms.events"));
            follower.setDaemon(true);
            follower.start();
            return next(heard);
        }

        private static String[] behind(String[] words) {
            return List.of(words).subList(1, words.length).toArray(String[]::new);
        }
    }

    static final class WithLettuce implements Door {
        private static final io.lettuce.core.codec.StringCodec UTF8 = io.lettuce.core.codec.StringCodec.UTF8;
        private final io.lettuce.core.RedisClient client;
        private final StatefulRedisConnection<String, String> connection;

        WithLettuce(int port) {
            client = io.lettuce.core.RedisClient.create(RedisURI.create("127.0.0.1", port));
            connection = client.connect();
        }

        @Override
        public Object ask(String... words) throws Exception {
            return connection.sync().dispatch(keyword(words), output(words), arguments(words));
        }

        @Override
        public List<Object> pipeline(List<String[]> commands) throws Exception {
            List<RedisFuture<?>> sent = new ArrayList<>();
            for (String[] words : commands)
                sent.add(connection.async().dispatch(keyword(words), output(words), arguments(words)));
            List<Object> replies = new ArrayList<>();
            for (var reply : sent) replies.add(reply.get());
            return replies;
        }

        @Override
        public List<Object> multi(List<String[]> commands) throws Exception {
            connection.sync().multi();
            for (String[] words : commands) connection.async().dispatch(keyword(words), output(words), arguments(words));
            return connection.sync().exec().stream().toList();
        }

        @Override
        public String hear(Runnable when) throws Exception {
            BlockingQueue<String> heard = new LinkedBlockingQueue<>();
            var subscriber = client.connectPubSub();
            subscriber.addListener(
                    new RedisPubSubAdapter<>() {
                        @Override
                        public void message(String channel, String message) {
                            heard.add(message);
                        }
                    });
            subscriber.sync().subscribe("rooms.events");
            when.run();
            return next(heard);
        }

        /** Lettuce wants to know the form of each answer beforehand. */
        private static CommandOutput<String, String, ?> output(String[] words) {
            boolean isNested = words[0].equals("ROOMS.BOOK");
            return isNested ? new NestedMultiOutput<>(UTF8) : new StatusOutput<>(UTF8);
        }

        private static CommandArgs<String, String> arguments(String[] words) {
            CommandArgs<String, String> arguments = new CommandArgs<>(UTF8);
            for (int at = 1; at < words.length; at++) arguments.add(words[at]);
            return arguments;
        }

        private static ProtocolKeyword keyword(String[] words) {
            return new ProtocolKeyword() {
                @Override
                public byte[] getBytes() {
                    return words[0].getBytes(StandardCharsets.UTF_8);
                }

                @Override
                public String toString() {
                    return words[0];
                }
            };
        }
    }

    /** Its objects need commands of key-value stores; beside them it sends any command. */
    static final class WithRedisson implements Door {
        private final Redisson redisson;

        WithRedisson(int port) {
            Config config = new Config();
            config.useSingleServer().setAddress("redis://127.0.0.1:" + port);
            redisson = (Redisson) Redisson.create(config);
        }

        @Override
        public Object ask(String... words) {
            return redisson.getCommandExecutor().get(send(redisson.getCommandExecutor(), words));
        }

        @Override
        public List<Object> pipeline(List<String[]> commands) {
            return batch(commands, BatchOptions.ExecutionMode.IN_MEMORY);
        }

        @Override
        public List<Object> multi(List<String[]> commands) {
            return batch(commands, BatchOptions.ExecutionMode.IN_MEMORY_ATOMIC);
        }

        @Override
        public String hear(Runnable when) throws InterruptedException {
            BlockingQueue<String> heard = new LinkedBlockingQueue<>();
            redisson.getTopic("rooms.events", StringCodec.INSTANCE)
                    .addListener(String.class, (channel, message) -> heard.add(message));
            when.run();
            return next(heard);
        }

        private List<Object> batch(List<String[]> commands, BatchOptions.ExecutionMode mode) {
            var batch = redisson.getCommandExecutor()
                    .createCommandBatchService(BatchOptions.defaults().executionMode(mode));
            for (String[] words : commands) send(batch, words);
            return new ArrayList<>(batch.execute().getResponses());
        }

        private static RFuture<Object> send(CommandAsyncExecutor executor, String[] words) {
            Object[] behind = List.of(words).subList(1, words.length).toArray();
            var command = new RedisCommand<>(words[0], new ObjectListReplayDecoder<>());
            return executor.writeAsync("", StringCodec.INSTANCE, command, behind);
        }
    }
}
