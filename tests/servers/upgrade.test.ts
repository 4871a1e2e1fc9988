import { afterAll, beforeAll, expect, test } from 'bun:test'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { VERSION } from '../../src/version.ts'
import type { ServerProcess } from '../imports/server-process.ts'
import { until } from '../support/until.ts'
import { readTitles, SERVERS_TIMEOUT_MS, startThreeServers, type ThreeServers } from './support.ts'

const ROOT = join(import.meta.dir, '../..')
const COPIED = ['src', 'modules', 'migrations', 'package.json', 'tsconfig.json', 'bunfig.toml']
const NEXT = '99.0.0'
const WRITERS = 4

// A rolling upgrade of three servers to a version that is made from a copy of the sources: a later number, and
// a migration of the metadata.
let world: ThreeServers
let next: string
beforeAll(async () => {
  next = mkdtempSync(join(tmpdir(), 'sheaf-next-'))
  for (const path of COPIED) cpSync(join(ROOT, path), join(next, path), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(next, 'node_modules'))
  const project = JSON.parse(readFileSync(join(next, 'package.json'), 'utf8'))
  writeFileSync(join(next, 'package.json'), JSON.stringify({ ...project, version: NEXT }))
  writeFileSync(
    join(next, 'migrations/postgres/9999_next.sql'),
    'ALTER TABLE "bases" ADD "next" text DEFAULT \'new\' NOT NULL;',
  )
  world = await startThreeServers()
}, SERVERS_TIMEOUT_MS)
afterAll(async () => {
  await world.stop()
  rmSync(next, { recursive: true, force: true })
})

/** What a server of this version prints when it is started on the upgraded metadata, and its exit code. */
async function startAgain(): Promise<{ exitCode: number; output: string }> {
  const env = {
    ...process.env,
    PORT: '0',
    HOST: '127.0.0.1',
    DATA_DIR: world.dataDir,
    DATABASE_URL: world.database.url,
  }
  const stdio = ['ignore', 'pipe', 'pipe'] as const
  const child = Bun.spawn([process.execPath, 'src/main.ts'], { cwd: ROOT, env, stdio: [...stdio] })
  const output = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  return { exitCode: await child.exited, output: output.join('\n') }
}

test('three servers are upgraded one after the other under load, side by side with the older version', async () => {
  const { id: baseId } = await world.trpc(world.servers[0]).bases.create.mutate({ title: 'Upgrade' })
  const { table } = await world.trpc(world.servers[0]).schema.createTable.mutate({ baseId, title: 'Rows' })
  const path = `/api/v2/tables/${table.id}/records`

  const acknowledged: string[] = []
  const refused: unknown[] = []
  let isWriting = true
  const write = async (writer: number) => {
    for (let count = 0; isWriting; count++) {
      const title = `${writer}-${count}`
      const server = world.servers[(writer + count) % world.servers.length]!
      const answer = await world
        .rest(server)
        .post(path, { Title: title })
        // A stopped server no longer accepts connections.
        .catch(() => null)
      if (answer?.status === 200) acknowledged.push(title)
      else if (answer && answer.status !== 503) refused.push(answer)
    }
  }
  const writers = Array.from({ length: WRITERS }, (_, writer) => write(writer))

  /** Live updates and changes of the schema pass from each server to each other. */
  async function actAsOne(): Promise<void> {
    for (const [at, from] of world.servers.entries()) {
      const others = world.servers.filter((server) => server !== from)
      const field = { type: 'Number', title: `N${crypto.randomUUID()}` } as const
      const sockets = await Promise.all(others.map((server) => world.connect(server)))
      const heard = sockets.map((socket) => {
        const ids: number[] = []
        socket.on('change', ({ id }: { id: number }) => ids.push(id))
        return ids
      })
      for (const socket of sockets)
        expect(await socket.emitWithAck('base:join', baseId, 0)).toMatchObject({ joined: true })
      const { id: fieldId } = await world.trpc(from).schema.createField.mutate({ tableId: table.id, field })
      const rows = [{ values: { [fieldId]: at } }]
      const change = { baseId, operations: [{ kind: 'insert' as const, tableId: table.id, rows }] }
      for (const server of others) {
        // The next call to another server knows the field.
        const { records } = await world.trpc(server).records.write.mutate({ change })
        expect(records[0]?.after?.[fieldId]).toBe(at)
      }
      const { id } = await world.trpc(from).records.write.mutate({ change })
      await until(() => heard.every((ids) => ids.includes(id)), 'The live update')
      for (const socket of sockets) socket.close()
    }
  }

  const replace = async (at: number) => {
    const old = world.servers[at] as ServerProcess
    world.servers[at] = await world.start({}, next)
    expect(await old.end('SIGTERM')).toBe(0)
  }
  await replace(0)
  await actAsOne()
  const again = await startAgain()
  expect(again.exitCode).toBe(1)
  expect(again.output).toContain(VERSION)
  expect(again.output).toContain(NEXT)
  await replace(1)
  await actAsOne()
  await replace(2)
  await actAsOne()
  isWriting = false
  await Promise.all(writers)

  expect(refused).toEqual([])
  expect(acknowledged.length).toBeGreaterThan(100)
  const titles = await readTitles(world.rest(world.servers[1]), path)
  const stored = new Set(titles)
  expect(stored.size).toBe(titles.length)
  expect(acknowledged.filter((title) => !stored.has(title))).toEqual([])
})
