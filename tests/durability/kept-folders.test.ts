import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type RunningServer, startServer } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import { BASE_FILE_STEPS } from '../../src/db/base-file.ts'
import { VERSION } from '../../src/version.ts'
import { ended, formatOf, importNew, resultOf, upload } from '../imports/support.ts'
import { createRestClient, createTrpcClient } from '../support/client.ts'
import { DATABASE_DUMP, KEPT_FOLDERS, type Kept, readTables } from '../support/kept-folder.ts'
import { createDatabase } from '../support/servers.ts'

const archives = [...new Bun.Glob('*.tar.gz').scanSync(KEPT_FOLDERS)].sort()
const isPostgres = (archive: string) => archive.includes('-postgres')

/** A folder as it was kept, opened by this version. Stop it when done: that removes the copy. */
async function open(archive: string, change: (dataDir: string) => void = () => {}) {
  const dataDir = mkdtempSync(join(tmpdir(), 'sheaf-kept-'))
  for (const [name, file] of await new Bun.Archive(
    await Bun.file(join(KEPT_FOLDERS, archive)).bytes(),
  ).files()) {
    mkdirSync(dirname(join(dataDir, name)), { recursive: true })
    writeFileSync(join(dataDir, name), await file.bytes())
  }
  change(dataDir)
  const kept: Kept = JSON.parse(readFileSync(join(dataDir, 'kept.json'), 'utf8'))
  const database = isPostgres(archive) ? await createDatabase('postgres') : null
  if (database) {
    await using sql = new Bun.SQL(database.url, { max: 1 })
    // Citus cannot restore into schemas that it spreads; elsewhere the setting has no effect.
    await sql.unsafe('set citus.enable_schema_based_sharding to off')
    await sql.unsafe(readFileSync(join(dataDir, DATABASE_DUMP), 'utf8'))
  }
  const environment = { PORT: '0', HOST: '127.0.0.1', LOG_LEVEL: 'silent', DATA_DIR: dataDir }
  const clear = async (server?: RunningServer) => {
    await server?.stop()
    await database?.drop()
    rmSync(dataDir, { recursive: true, force: true })
  }
  try {
    const server = await startServer(readConfig({ ...environment, DATABASE_URL: database?.url }))
    return { kept, dataDir, server, stop: () => clear(server) }
  } catch (error) {
    await clear()
    throw error
  }
}

async function enter({ kept, server }: Pick<Awaited<ReturnType<typeof open>>, 'kept' | 'server'>) {
  const { token } = await createTrpcClient(server.url).auth.signIn.mutate(kept)
  const trpc = createTrpcClient(server.url, token)
  const base = (await trpc.bases.list.query()).find(({ title }) => title === kept.baseTitle)
  if (!base) throw new Error(`${kept.baseTitle} is gone`)
  const tables = await trpc.schema.tables.query({ baseId: base.id })
  const tasks = tables.find(({ title }) => title === 'Tasks')
  if (!tasks) throw new Error('Tasks is gone')
  const rest = createRestClient(server.url, token)
  return { token, trpc, rest, baseId: base.id, tables, tasks, path: `/api/v2/tables/${tasks.id}/records` }
}

test('there is a kept folder of builds before 0.2.0, and of each home since', () => {
  expect(archives.filter((name) => name.startsWith('0.1.0-'))).toHaveLength(2)
})

describe.each(archives)('the kept folder %s', (archive) => {
  test('holds the same records as before, can be written to, altered, imported into and undone', async () => {
    const opened = await open(archive)
    const { kept, server } = opened
    const { token, trpc, rest, baseId, tables, tasks, path } = await enter(opened)
    expect(await readTables(server.url, token, baseId)).toMatchObject(kept.tables)
    const titles = async () =>
      (await rest.get(`${path}?fields=Title&sort=Id`)).body.list.map(({ Title }: { Title: string }) => Title)
    const before = await titles()
    const undo = () => trpc.records.undo.mutate({ baseId })

    const made = (await rest.post(path, { Title: 'New' })).body
    expect((await rest.patch(path, { ...made, Title: 'Newer' })).status).toBe(200)
    expect(await titles()).toEqual([...before, 'Newer'])
    expect((await undo()).records).toBe(1)
    expect(await titles()).toEqual([...before, 'New'])
    await undo()
    expect(await titles()).toEqual(before)
    expect((await trpc.records.redo.mutate({ baseId })).records).toBe(1)

    for (const { id } of tables) {
      const { fields, views } = await trpc.schema.table.query({ tableId: id })
      const title = fields.find(({ isDisplay }) => isDisplay)
      if (!title) throw new Error('A table has no display field')
      const added = await trpc.schema.createField.mutate({
        tableId: id,
        field: { title: 'Added', type: 'Number' },
      })
      await trpc.schema.updateField.mutate({ fieldId: title.id, patch: { type: 'LongText' } })
      await undo()
      await trpc.schema.deleteField.mutate({ fieldId: added.id })
      await undo()
      expect((await trpc.schema.table.query({ tableId: id })).fields.map((field) => field.title)).toContain(
        'Added',
      )
      for (const view of views) {
        expect((await rest.get(`/api/v2/tables/${id}/records?viewId=${view.id}`)).status).toBe(200)
      }
    }

    const door = { url: server.url, token }
    const how = { title: 'Fresh', columns: [{ title: 'City' }, { title: 'Size', type: 'Number' as const }] }
    expect(await importNew(door, baseId, 'City,Size\nOslo,7\n', how)).toMatchObject({ rows: 1 })
    const { fields } = await trpc.schema.table.query({ tableId: tasks.id })
    const file = 'Title\nFrom a file\n'
    const { jobId } = await trpc.imports.start.mutate({
      baseId,
      tableId: tasks.id,
      uploadId: await upload(door, file),
      format: formatOf(file),
      width: 1,
      columns: [{ index: 0, fieldId: fields.find(({ title }) => title === 'Title')?.id }],
    })
    resultOf(await ended(door, jobId))
    expect(await titles()).toContain('From a file')
    await undo()
    expect(await titles()).not.toContain('From a file')
    await trpc.schema.deleteTable.mutate({ tableId: tasks.id })
    await undo()
    const { entries } = await trpc.records.history.query({ tableId: tasks.id, recordId: 1 })
    expect(entries.length).toBeGreaterThan(0)
    await opened.stop()
  })

  test('opens again after the upgrade', async () => {
    const opened = await open(archive)
    await opened.server.stop()
    const settings = opened.server.kernel.config
    const server = await startServer({ ...settings, port: 0 })
    const { rest, path } = await enter({ ...opened, server })
    expect((await rest.post(path, { Title: 'Again' })).status).toBe(200)
    await server.stop()
    await opened.stop()
  })
})

describe('a folder of a later version', () => {
  const archive = archives.find((name) => name.startsWith('0.1.0-')) ?? ''
  const change = (path: (dataDir: string) => string, statements: string[]) => (dataDir: string) => {
    const file = new Database(path(dataDir))
    for (const statement of statements) file.run(statement)
    file.close()
  }

  test('is rejected by the name of both versions', async () => {
    const later = change(
      (dataDir) => join(dataDir, 'sheaf.db'),
      [
        'create table releases (version text primary key, opened_at text not null)',
        `insert into releases values ('0.2.0', ''), ('12.10.3', ''), ('12.9.0', '')`,
      ],
    )
    await expect(open(archive, later)).rejects.toThrow(
      `sheaf.db was written by Sheaf 12.10.3, and this is Sheaf ${VERSION}: start version 12.10.3 or later`,
    )
  })

  test('so is the file of a base that was copied from one, while other bases work', async () => {
    const steps = BASE_FILE_STEPS.length + 1
    const opened = await open(
      archive,
      change(
        (dataDir) => {
          const files = readdirSync(join(dataDir, 'bases')).map((name) => join(dataDir, 'bases', name))
          return files.find((path) => hasTable(path, 'tasks')) ?? ''
        },
        [
          `pragma user_version = ${steps}`,
          'create table sheaf_release (version text not null)',
          `insert into sheaf_release values ('12.10.3')`,
        ],
      ),
    )
    const { rest, trpc, path } = await enter(opened)
    const { status, body } = await rest.get(path)
    expect(status).toBe(400)
    expect(JSON.stringify(body)).toContain(`was written by Sheaf 12.10.3, and this is Sheaf ${VERSION}`)
    const { id } = await trpc.bases.create.mutate({ title: 'Other' })
    expect((await trpc.schema.createTable.mutate({ baseId: id, title: 'T', fields: [] })).table.title).toBe(
      'T',
    )
    await opened.stop()
  })
})

function hasTable(path: string, name: string): boolean {
  const file = new Database(path, { readonly: true })
  const found = file.query('select 1 from sqlite_master where name = ?').get(name)
  file.close()
  return found !== null
}
