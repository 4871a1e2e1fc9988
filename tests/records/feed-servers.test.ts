import { expect, test } from 'bun:test'
import type { FeedConsumer } from '../../modules/records/feed/index.ts'
import { startServer } from '../../src/app.ts'
import { createBench } from './support.ts'

test('what waits for the log of a base waits for the server that reads it', async () => {
  const bench = await createBench({ database: 'postgres' })
  const other = await startServer(bench.app.config)
  try {
    const table = await bench.table({ Title: 'SingleLineText' })
    const [here, there] = [bench.app.services.records.feed, other.services.records.feed]
    const gate = Promise.withResolvers<void>()
    const reading = Promise.withResolvers<void>()
    let taken = 0
    const consumer: FeedConsumer = {
      name: 'slow',
      async take({ entries }) {
        reading.resolve()
        await gate.promise
        taken += entries.length
        return []
      },
    }
    there.consume(consumer)
    here.consume({ ...consumer, take: async () => [] })
    // The server that first has something to read keeps the log.
    await there.follow('slow', bench.baseId)
    await there.settled(bench.baseId)
    await bench.rest.post(table.path, { Title: 'one' })
    await reading.promise
    await bench.rest.post(table.path, { Title: 'two' })
    const settled = here.settled(bench.baseId).then(() => taken)
    expect(await Promise.race([settled, Bun.sleep(1_500).then(() => 'waits')])).toBe('waits')
    gate.resolve()
    expect(await settled).toBe(2)

    const late = here.settled(bench.baseId, () => {
      throw new Error('too late')
    })
    await expect(late).rejects.toThrow('too late')
  } finally {
    await other.stop()
    await bench.stop()
  }
})

test('a server that has stopped reading leaves the log to the others', async () => {
  const bench = await createBench({ database: 'postgres' })
  const other = await startServer(bench.app.config)
  try {
    const table = await bench.table({ Title: 'SingleLineText' })
    const [here, there] = [bench.app.services.records.feed, other.services.records.feed]
    let taken = 0
    const consumer = (count: number): FeedConsumer => ({
      name: 'counter',
      async take({ entries }) {
        taken += count * entries.length
        return []
      },
    })
    there.consume(consumer(0))
    here.consume(consumer(1))
    await there.follow('counter', bench.baseId)
    await there.settled(bench.baseId)
    await there.close()
    await bench.rest.post(table.path, { Title: 'late' })
    await here.settled(bench.baseId)
    expect(taken).toBe(1)
  } finally {
    await other.stop()
    await bench.stop()
  }
})
