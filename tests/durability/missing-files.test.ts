import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type RunningServer, startServer } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import { createLocalStore } from '../../src/storage/local-store.ts'
import { createRestClient, createTrpcClient } from '../support/client.ts'
import { createDatabase } from '../support/servers.ts'

const PASSWORD = 'correct horse battery'

let dataDir: string
let server: RunningServer | null = null
let token: string

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'sheaf-missing-'))
})
afterEach(async () => {
  await server?.stop()
  server = null
  rmSync(dataDir, { recursive: true, force: true })
})

async function start(environment: Record<string, string> = {}): Promise<RunningServer> {
  server = await startServer(
    readConfig({ PORT: '0', HOST: '127.0.0.1', LOG_LEVEL: 'silent', DATA_DIR: dataDir, ...environment }),
  )
  return server
}

async function stop(): Promise<void> {
  await server?.stop()
  server = null
}

const trpc = () => createTrpcClient(server?.url ?? '', token)
const rest = () => createRestClient(server?.url ?? '', token)

interface Made {
  baseId: string
  tableId: string
  path: string
}

async function makeBase(title: string): Promise<Made> {
  const { id: baseId } = await trpc().bases.create.mutate({ title })
  const fields = [{ title: 'Name', type: 'SingleLineText' as const }]
  const { table } = await trpc().schema.createTable.mutate({ baseId, title: 'People', fields })
  const made = { baseId, tableId: table.id, path: join(dataDir, 'bases', `${baseId}.db`) }
  await rest().post(records(made), new Array(100).fill({ Name: title.repeat(50) }))
  return made
}

function attach(): Promise<Response> {
  const form = new FormData()
  form.append('files', new File(['text'], 'note.txt'))
  return fetch(`${server?.url}/api/v2/storage/upload`, {
    method: 'POST',
    headers: { 'xc-auth': token },
    body: form,
  })
}

const records = ({ tableId }: Made) => `/api/v2/tables/${tableId}/records`

async function signUp(): Promise<void> {
  const visitor = createTrpcClient(server?.url ?? '')
  token = (await visitor.auth.signUp.mutate({ email: 'ann@example.com', password: PASSWORD })).token
}

/** Two bases, of which the second shall be harmed; the server is stopped. */
async function twoBases(): Promise<{ whole: Made; harmed: Made }> {
  await start()
  await signUp()
  const made = { whole: await makeBase('Whole'), harmed: await makeBase('Harmed') }
  await stop()
  return made
}

/** What is asked of the base is refused in words that name its file, by both doors, and the other base is served. */
async function expectRefused(code: string, { whole, harmed }: { whole: Made; harmed: Made }): Promise<void> {
  const name = `bases/${harmed.baseId}.db`
  const calls = [
    rest().get(records(harmed)),
    rest().post(records(harmed), { Name: 'New' }),
    rest().get(`${records(harmed)}/count?where=(Name,like,a)`),
  ]
  for (const { status, body } of await Promise.all(calls)) {
    expect([status, body.error, body.message]).toEqual([503, code, expect.stringContaining(name)])
  }
  const query = { tableId: harmed.tableId, limit: 10, offset: 0 }
  await expect(trpc().records.list.query({ query })).rejects.toMatchObject({
    message: expect.stringContaining(name),
    data: { appCode: code, httpStatus: 503 },
  })
  const fields = [{ title: 'Name', type: 'SingleLineText' as const }]
  await expect(
    trpc().schema.createTable.mutate({ baseId: harmed.baseId, title: 'New', fields }),
  ).rejects.toMatchObject({ data: { appCode: code } })
  await expectServed(whole)
}

async function expectServed(made: Made): Promise<void> {
  const answer = await rest().post(records(made), { Name: 'One more' })
  expect(answer.status).toBe(200)
  expect((await rest().get(`${records(made)}?limit=1`)).status).toBe(200)
}

describe('a base whose file is missing', () => {
  test('is refused by name, nothing is created, and it is back once the file is', async () => {
    const made = await twoBases()
    const { path } = made.harmed
    renameSync(path, `${path}.away`)
    await start()
    await expectRefused('BASE_DATA_MISSING', made)
    expect(existsSync(path)).toBe(false)
    renameSync(`${path}.away`, path)
    await expectServed(made.harmed)
    expect((await rest().get(`${records(made.harmed)}/count`)).body.count).toBe(101)
  })

  test('is refused also where the file goes while the server runs', async () => {
    const made = await twoBases()
    await start()
    await expectServed(made.harmed)
    const { path } = made.harmed
    renameSync(path, `${path}.away`)
    // Reads look only now and then.
    await Bun.sleep(1_100)
    await expectRefused('BASE_DATA_MISSING', made)
    expect(existsSync(path)).toBe(false)
    renameSync(`${path}.away`, path)
    await expectServed(made.harmed)
  })

  test('is made with the base, so that an empty one is not missing', async () => {
    await start()
    await signUp()
    const { id } = await trpc().bases.create.mutate({ title: 'Empty' })
    expect(existsSync(join(dataDir, 'bases', `${id}.db`))).toBe(true)
  })
})

describe('a base whose file is damaged', () => {
  const DAMAGES: Record<string, (path: string) => void> = {
    'is empty': (path) => truncateSync(path, 0),
    'is cut in the middle': (path) => truncateSync(path, Math.floor(statSync(path).size / 8192) * 4096),
    'begins with something else': (path) => overwrite(path, 0, 4096),
    'has a damaged page': (path) => overwrite(path, 4096, statSync(path).size - 4096),
    'is another database': (path) => {
      rmSync(path)
      new Database(path, { create: true }).run('create table something (id integer)')
    },
  }
  for (const [what, damage] of Object.entries(DAMAGES)) {
    test(`is refused by name where it ${what}`, async () => {
      const made = await twoBases()
      damage(made.harmed.path)
      const before = readFileSync(made.harmed.path)
      await start()
      await expectRefused('BASE_DATA_DAMAGED', made)
      expect(readFileSync(made.harmed.path).equals(before)).toBe(true)
    })
  }
})

/** Writes garbage over a part of a file. */
function overwrite(path: string, from: number, length: number): void {
  const bytes = readFileSync(path)
  bytes.fill(0xa7, from, from + length)
  writeFileSync(path, bytes)
}

describe('a data folder that has lost', () => {
  test('its metadata does not start, and nothing is created', async () => {
    await twoBases()
    rmSync(join(dataDir, 'sheaf.db'))
    const names = () =>
      readdirSync(dataDir)
        .filter((name) => !name.startsWith('sheaf.lock'))
        .toSorted()
    const before = names()
    await expect(start()).rejects.toThrow(`${join(dataDir, 'sheaf.db')} is missing or empty`)
    expect(names()).toEqual(before)
  })

  test('the key of its sessions does not start, and no key is made', async () => {
    await twoBases()
    const file = join(dataDir, 'secrets', 'jwt.secret')
    rmSync(file)
    await expect(start()).rejects.toThrow(`${file} is missing or damaged`)
    expect(existsSync(file)).toBe(false)
    await start({ JWT_SECRET: 'another key of the operator' })
  })

  test('the key of its connections does not start where something is sealed with it', async () => {
    await start()
    await signUp()
    const { baseId } = await makeBase('Shop')
    const file = join(dataDir, 'secrets', 'connections.secret')
    await stop()
    rmSync(file)
    // Nothing is sealed yet: folders of earlier versions look like this.
    await start()
    await stop()
    const metadata = new Database(join(dataDir, 'sheaf.db'))
    metadata.run('update sources set config = ? where base_id = ?', ['sealed', baseId])
    metadata.close()
    rmSync(file)
    await expect(start()).rejects.toThrow(`${file} is missing or damaged`)
    expect(existsSync(file)).toBe(false)
  })

  test('the folder of its attachments refuses files, and makes none anew', async () => {
    await start()
    await signUp()
    const made = await makeBase('Files')
    expect((await attach()).status).toBe(200)
    rmSync(join(dataDir, 'attachments'), { recursive: true })
    const refused = await attach()
    expect([refused.status, (await refused.json()).error]).toEqual([503, 'STORAGE_MISSING'])
    expect(existsSync(join(dataDir, 'attachments'))).toBe(false)
    await expectServed(made)
  })
})

test('two first files of a server may arrive at once', async () => {
  const store = createLocalStore(join(dataDir, 'attachments'))
  // While the server looks for stored files, the other upload makes the folder and registers its file.
  const isUnused = async (): Promise<boolean> => {
    await store.prepare(async () => true)
    return false
  }
  await store.prepare(isUnused)
  expect(existsSync(join(dataDir, 'attachments'))).toBe(true)
})

test('a base whose schema is missing in PostgreSQL is refused by name, and not made anew', async () => {
  const database = await createDatabase('postgres')
  const environment = { DATABASE_URL: database.url }
  await start(environment)
  await signUp()
  const made = { whole: await makeBase('Whole'), harmed: await makeBase('Harmed') }
  await stop()
  await using sql = new Bun.SQL(database.url, { max: 1 })
  await sql.unsafe(`drop schema "nc_${made.harmed.baseId}" cascade`)
  await start(environment)
  const answer = await rest().get(records(made.harmed))
  expect([answer.status, answer.body.error]).toEqual([503, 'BASE_DATA_MISSING'])
  expect(answer.body.message).toContain(`nc_${made.harmed.baseId}`)
  const schemas = await sql`select 1 from pg_namespace where nspname = ${`nc_${made.harmed.baseId}`}`
  expect(schemas.length).toBe(0)
  await expectServed(made.whole)
  await sql.close()
  await stop()
  await database.drop()
})
