import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type ServerProcess, startServerProcess } from '../imports/server-process.ts'
import { PASSWORD } from '../support/app.ts'
import { createRestClient, type RestClient } from '../support/client.ts'
import { createDatabase, type TestDatabase } from '../support/servers.ts'
import { until } from '../support/until.ts'
import { SERVERS_TIMEOUT_MS } from './support.ts'

const ROOT = join(import.meta.dir, '../..')
/** The last release. Its sources are in the history of the repository, and run with the packages of today. */
const RELEASED = { version: '0.2.0', commit: '57f4ee22d51d93196bc36e05b50687fcc9124614' }
const ROWS = 40

const archive = Bun.spawnSync(
  ['git', 'archive', RELEASED.commit, 'src', 'modules', 'migrations', 'package.json', 'tsconfig.json'],
  { cwd: ROOT, stderr: 'ignore' },
)
const hasHistory = archive.exitCode === 0
if (!hasHistory) console.info(`Skipped: this clone does not have the history back to ${RELEASED.version}`)

describe.skipIf(!hasHistory)(
  `a server of ${RELEASED.version} and one of this version on one PostgreSQL`,
  () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'sheaf-upgrade-'))
    const released = mkdtempSync(join(tmpdir(), 'sheaf-released-'))
    let database: TestDatabase
    let older: ServerProcess
    let newer: ServerProcess
    let there: RestClient
    let here: RestClient
    let path: string
    let tableId: string

    beforeAll(async () => {
      for (const [name, file] of await new Bun.Archive(archive.stdout).files()) {
        mkdirSync(dirname(join(released, name)), { recursive: true })
        writeFileSync(join(released, name), await file.bytes())
      }
      symlinkSync(join(ROOT, 'node_modules'), join(released, 'node_modules'))
      database = await createDatabase('postgres')
      const env = { DATABASE_URL: database.url }
      older = await startServerProcess(dataDir, env, released)
      const account = { email: 'ann@example.com', password: PASSWORD }
      const { body: signedUp } = await createRestClient(older.url).post('/api/v1/auth/user/signup', account)
      there = createRestClient(older.url, signedUp.token)
      const { body: base } = await there.post('/api/v2/meta/bases', { title: 'Upgrade' })
      const { body: table } = await there.post(`/api/v2/meta/bases/${base.id}/tables`, {
        title: 'Rows',
        columns: [
          { title: 'Title', uidt: 'SingleLineText' },
          { title: 'Number', uidt: 'Number' },
        ],
      })
      tableId = table.id
      path = `/api/v2/tables/${tableId}/records`
      expect((await there.post(path, { Title: 'first', Number: 1 })).status).toBe(200)
      newer = await startServerProcess(dataDir, env)
      here = createRestClient(newer.url, signedUp.token)
    }, SERVERS_TIMEOUT_MS)
    afterAll(async () => {
      await Promise.all([older?.end('SIGTERM'), newer?.end('SIGTERM')])
      await database.drop()
      for (const folder of [dataDir, released]) rmSync(folder, { recursive: true, force: true })
    })

    const countOf = async (rest: RestClient, where: string): Promise<number> =>
      (await rest.get(`${path}/count?where=${where}`)).body.count

    test('write at the same time, and each reads what the other has written', async () => {
      const write = async (rest: RestClient, name: string) => {
        for (let at = 0; at < ROWS; at++) {
          expect((await rest.post(path, { Title: `${name} ${at}`, Number: 2 })).status).toBe(200)
          // What this version has counted before must not hide what the other has written since.
          expect(await countOf(here, `(Title,like,${name})`)).toBe(at + 1)
        }
      }
      await Promise.all([write(there, 'older'), write(here, 'newer')])
      for (const rest of [there, here]) expect(await countOf(rest, '(Number,eq,2)')).toBe(2 * ROWS)
      const { body } = await here.get(`${path}?limit=1000`)
      expect(new Set(body.list.map(({ Id }: { Id: number }) => Id)).size).toBe(2 * ROWS + 1)

      const [first] = body.list
      expect((await there.patch(path, { Id: first.Id, Title: 'changed' })).status).toBe(200)
      expect((await here.get(`${path}/${first.Id}`)).body.Title).toBe('changed')
      expect((await there.delete(path, { Id: first.Id })).status).toBe(200)
      expect((await here.get(`${path}/${first.Id}`)).status).toBe(404)
      expect(await countOf(here, '(Title,eq,changed)')).toBe(0)
    })

    test('change the table, and each knows the field that the other has added', async () => {
      const fields = `/api/v2/meta/tables/${tableId}/columns`
      for (const [rest, other, title] of [
        [there, here, 'Of the older'],
        [here, there, 'Of the newer'],
      ] as const) {
        expect((await rest.post(fields, { title, uidt: 'SingleLineText' })).status).toBe(200)
        await until(async () => {
          await other.post(path, { Title: title, [title]: 'x' })
          return (await countOf(rest, `(${title},eq,x)`)) > 0
        }, `The field ${title}`)
      }
    })

    test('end the older one without an error, which does not start again', async () => {
      expect(await older.end('SIGTERM')).toBe(0)
      const env = {
        ...process.env,
        PORT: '0',
        HOST: '127.0.0.1',
        DATA_DIR: dataDir,
        DATABASE_URL: database.url,
      }
      const again = Bun.spawn([process.execPath, 'src/main.ts'], {
        cwd: released,
        env,
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      const output = await Promise.all([new Response(again.stdout).text(), new Response(again.stderr).text()])
      expect(await again.exited).toBe(1)
      expect(output.join('')).toContain(RELEASED.version)
      expect((await here.post(path, { Title: 'last' })).status).toBe(200)
    })
  },
)
