import { expect, test } from 'bun:test'
import { startThreeServers, until } from './support.ts'

const WRITERS = 6
/** Time of writing before the kill, and after it. */
const BEFORE_MS = 1_000
const AFTER_MS = 1_500

test('a server that is killed under load loses nothing it has acknowledged, and the others go on', async () => {
  const world = await startThreeServers()
  try {
    const [a, b, c] = world.servers
    const { id: baseId } = await world.trpc(a).bases.create.mutate({ title: 'Load' })
    const { table } = await world.trpc(a).schema.createTable.mutate({ baseId, title: 'Rows' })
    const path = `/api/v2/tables/${table.id}/records`
    const socket = await world.connect(b)
    const heard: number[] = []
    socket.on('change', ({ id }: { id: number }) => heard.push(id))
    expect(await socket.emitWithAck('base:join', baseId, 0)).toMatchObject({ joined: true })

    const acknowledged: { title: string; at: number }[] = []
    const refused: unknown[] = []
    let isWriting = true
    const write = async (writer: number) => {
      for (let count = 0; isWriting; count++) {
        const title = `${writer}-${count}`
        const server = world.servers[(writer + count) % world.servers.length]!
        const answer = await world
          .rest(server)
          .post(path, { Title: title })
          // The killed server closes the connection: whether it wrote is open.
          .catch(() => null)
        if (answer?.status === 200) acknowledged.push({ title, at: performance.now() })
        else if (answer) refused.push(answer)
      }
    }
    const writers = Array.from({ length: WRITERS }, (_, writer) => write(writer))
    await Bun.sleep(BEFORE_MS)
    const killedAt = performance.now()
    await c.end('SIGKILL')
    await Bun.sleep(AFTER_MS)
    isWriting = false
    await Promise.all(writers)

    expect(refused).toEqual([])
    expect(acknowledged.filter(({ at }) => at > killedAt + 200).length).toBeGreaterThan(0)
    const titles: string[] = []
    for (let offset = 0; ; offset += 1000) {
      const { body } = await world.rest(a).get(`${path}?fields=Title&limit=1000&offset=${offset}`)
      titles.push(...body.list.map(({ Title }: { Title: string }) => Title))
      if (body.pageInfo.isLastPage) break
    }
    expect(new Set(titles).size).toBe(titles.length)
    const stored = new Set(titles)
    expect(acknowledged.filter(({ title }) => !stored.has(title))).toEqual([])

    const change = await world.trpc(a).records.write.mutate({
      change: { baseId, operations: [{ kind: 'insert', tableId: table.id, rows: [{ values: {} }] }] },
    })
    await until(() => heard.includes(change.id), 'The live update after the kill')
  } finally {
    await world.stop()
  }
}, 60_000)
