import { expect, test } from 'bun:test'
import type { ServerProcess } from '../imports/server-process.ts'
import { until } from '../support/until.ts'
import { readTitles, startThreeServers } from './support.ts'

/** Writers that send a record once, and writers that send it again, as browsers do, until it is acknowledged. */
const WRITERS = { once: 4, persistent: 4 }
/** Kills, each followed by a restart. */
const KILLS = 3
/** Time of writing before each kill, at random up to twice as long, and after it. */
const BEFORE_MS = 500
const AFTER_MS = 1_500

test('servers that are killed at random under load lose and repeat nothing acknowledged, and the others go on', async () => {
  const world = await startThreeServers()
  try {
    const [a] = world.servers
    const { id: baseId } = await world.trpc(a).bases.create.mutate({ title: 'Load' })
    const { table, fields } = await world.trpc(a).schema.createTable.mutate({ baseId, title: 'Rows' })
    const titleId = fields.find(({ title }) => title === 'Title')?.id ?? ''
    const path = `/api/v2/tables/${table.id}/records`

    const acknowledged: { title: string; at: number }[] = []
    const refused: unknown[] = []
    let isWriting = true
    const serverAt = (number: number) => world.servers[number % world.servers.length]!

    const writeOnce = async (writer: number) => {
      for (let count = 0; isWriting; count++) {
        const title = `once ${writer}-${count}`
        const answer = await world
          .rest(serverAt(writer + count))
          .post(path, { Title: title })
          // The killed server closes the connection: whether it wrote is open.
          .catch(() => null)
        if (answer?.status === 200) acknowledged.push({ title, at: performance.now() })
        else if (answer) refused.push(answer)
      }
    }
    const writePersistently = async (writer: number) => {
      for (let count = 0; isWriting; count++) {
        const title = `persistent ${writer}-${count}`
        const rows = [{ values: { [titleId]: title } }]
        const change = {
          baseId,
          clientId: crypto.randomUUID(),
          operations: [{ kind: 'insert' as const, tableId: table.id, rows }],
        }
        for (let attempt = 0; ; attempt++) {
          const sent = world.trpc(serverAt(writer + count + attempt)).records.write.mutate({ change })
          if (await sent.then(Boolean, () => false)) break
          await Bun.sleep(10)
        }
        acknowledged.push({ title, at: performance.now() })
      }
    }
    const writers = [
      ...Array.from({ length: WRITERS.once }, (_, writer) => writeOnce(writer)),
      ...Array.from({ length: WRITERS.persistent }, (_, writer) => writePersistently(writer)),
    ]

    for (let kill = 0; kill < KILLS; kill++) {
      await Bun.sleep(BEFORE_MS * 2 * Math.random())
      const at = Math.floor(Math.random() * world.servers.length)
      const killed = world.servers[at] as ServerProcess
      console.info(`kills server ${at}`)
      await killed.end('SIGKILL')
      const killedAt = performance.now()
      await Bun.sleep(AFTER_MS)
      await until(
        () => acknowledged.some(({ at: time }) => time > killedAt + 200),
        'A write to another server',
      )
      world.servers[at] = await world.start()
    }
    isWriting = false
    await Promise.all(writers)

    expect(refused).toEqual([])
    const titles = await readTitles(world.rest(serverAt(0)), path)
    const stored = new Set(titles)
    expect(titles.filter((title, index) => titles.indexOf(title) !== index)).toEqual([])
    expect(acknowledged.filter(({ title }) => !stored.has(title))).toEqual([])
    // Each was acknowledged in the end, and so stored exactly once.
    const persistent = acknowledged.filter(({ title }) => title.startsWith('persistent'))
    expect(titles.filter((title) => title.startsWith('persistent'))).toHaveLength(persistent.length)

    // The servers hear each other, also those that were started meanwhile.
    for (const from of world.servers) {
      const socket = await world.connect(world.servers.find((server) => server !== from)!)
      const heard: number[] = []
      socket.on('change', ({ id }: { id: number }) => heard.push(id))
      expect(await socket.emitWithAck('base:join', baseId, 0)).toMatchObject({ joined: true })
      const change = await world.trpc(from).records.write.mutate({
        change: { baseId, operations: [{ kind: 'insert', tableId: table.id, rows: [{ values: {} }] }] },
      })
      await until(() => heard.includes(change.id), 'The live update after the kills')
    }
    console.info(`${acknowledged.length} writes acknowledged, ${KILLS} servers killed`)
  } finally {
    await world.stop()
  }
})
