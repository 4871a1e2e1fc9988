import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BACKUP_TIMEOUT_MS } from '../backups/support.ts'
import { startServerProcess } from '../imports/server-process.ts'
import { META_DATABASES, PASSWORD } from '../support/app.ts'
import { createRestClient, createTrpcClient } from '../support/client.ts'
import { SERVER_MAIN } from '../support/server-main.ts'
import { createDatabase, type TestDatabase } from '../support/servers.ts'

setDefaultTimeout(BACKUP_TIMEOUT_MS)

describe.each(META_DATABASES)('sheaf export and sheaf import with bases in %s', (home) => {
  const folder = mkdtempSync(join(tmpdir(), 'sheaf-export-'))
  const dataDir = join(folder, 'data')
  let database: TestDatabase | null = null
  let baseId = ''
  let token = ''

  const environment = () => ({ DATABASE_URL: database?.url ?? '' })

  async function sheaf(...args: string[]) {
    const child = Bun.spawn([process.execPath, SERVER_MAIN, ...args], {
      env: { ...process.env, DATA_DIR: dataDir, PORT: '0', ...environment() },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const [output, errors] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ])
    return { code: await child.exited, output, errors }
  }

  /** Runs `work` while a server runs. */
  async function served<T>(work: (url: string) => Promise<T>): Promise<T> {
    const server = await startServerProcess(dataDir, environment())
    try {
      return await work(server.url)
    } finally {
      await server.end('SIGTERM')
    }
  }

  beforeAll(async () => {
    if (home === 'postgres') database = await createDatabase('postgres')
    await served(async (url) => {
      const visitor = createTrpcClient(url)
      ;({ token } = await visitor.auth.signUp.mutate({ email: 'ann@example.com', password: PASSWORD }))
      const trpc = createTrpcClient(url, token)
      baseId = (await trpc.bases.create.mutate({ title: 'Shop' })).id
      const { table } = await trpc.schema.createTable.mutate({
        baseId,
        title: 'Tasks',
        fields: [{ title: 'Name', type: 'SingleLineText' }],
      })
      const path = `/api/v2/tables/${table.id}/records`
      const rest = createRestClient(url, token)
      await rest.post(path, [{ Name: 'one' }, { Name: 'two' }])
      await rest.patch(path, [{ Id: 1, Name: 'uno' }])
      await trpc.comments.create.mutate({ tableId: table.id, recordId: 1, text: 'Hello' })
    })
  })
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true })
    await database?.drop()
  })

  test('refuse what they do not know, and change nothing', async () => {
    const file = join(folder, 'none.sheaf')
    for (const args of [
      ['export', 'Shop'],
      ['export', 'Shop', file, 'more'],
      ['export', 'Shop', file, '--everything'],
      ['import'],
      ['import', file],
    ])
      expect((await sheaf(...args)).code).toBe(2)
    const text = join(folder, 'text.sheaf')
    writeFileSync(text, 'no base at all')
    for (const [args, message] of [
      [['export', 'Nothing', file], 'There is no base “Nothing”'],
      [['export', 'Shop', text], 'exists already'],
      [['import', file, '--owner', 'ann@example.com'], 'does not exist'],
      [['import', text, '--owner', 'bob@example.com'], 'There is no account'],
      [['import', text, '--owner', 'ann@example.com'], 'This is no Sheaf file'],
    ] as const) {
      const { code, errors } = await sheaf(...args)
      expect([code, errors]).toEqual([1, expect.stringContaining(message)])
    }
    expect(readdirSync(folder).filter((name) => name.startsWith('none'))).toEqual([])
  })

  test('bring a base to a file and back, with its history and comments', async () => {
    const file = join(folder, 'shop.sheaf')
    const written = await sheaf('export', baseId, file)
    expect([written.code, written.errors]).toEqual([0, ''])
    expect(written.output).toContain('Exported “Shop”')
    expect(existsSync(`${file}.part`)).toBe(false)
    const opened = await sheaf('import', file, '--owner', 'ann@example.com')
    expect([opened.code, opened.errors]).toEqual([0, ''])
    const id = /\((p\w{14})\)/.exec(opened.output)?.[1] ?? ''
    await served(async (url) => {
      const trpc = createTrpcClient(url, token)
      const bases = await trpc.bases.list.query({})
      const titles = bases.map(({ title }) => title)
      expect(titles.filter((title) => title.startsWith('Shop')).toSorted()).toEqual(['Shop', 'Shop 2'])
      const [table] = await trpc.schema.tables.query({ baseId: id })
      const tableId = table?.id ?? ''
      const { list } = (await createRestClient(url, token).get(`/api/v2/tables/${tableId}/records`)).body
      expect(list).toMatchObject([
        { Id: 1, Name: 'uno' },
        { Id: 2, Name: 'two' },
      ])
      expect((await trpc.records.history.query({ tableId, recordId: 1 })).entries).toHaveLength(2)
      const { comments } = await trpc.comments.list.query({ tableId, recordId: 1 })
      expect(comments.map(({ text }) => text)).toEqual(['Hello'])
    })
    const again = await sheaf('export', baseId, file, '--replace', '--without-history', '--without-comments')
    expect(again.code).toBe(0)
  })

  test(`${home === 'sqlite' ? 'refuse to run' : 'run'} beside a server`, async () => {
    const file = join(folder, 'beside.sheaf')
    const { code, errors } = await served(() => sheaf('export', baseId, file))
    if (home === 'sqlite') expect([code, errors]).toEqual([1, expect.stringContaining('already using')])
    else expect([code, errors]).toEqual([0, ''])
    expect(existsSync(file)).toBe(home === 'postgres')
  })

  test('leave nothing of an import that is killed after the next start of a server', async () => {
    const file = join(folder, 'killed.sheaf')
    const startedAt = performance.now()
    expect((await sheaf('export', baseId, file)).code).toBe(0)
    // An import takes longer than the export.
    const exportMs = performance.now() - startedAt
    for (const delayMs of [0.5, 0.8, 1.1].map((part) => part * exportMs)) {
      const child = Bun.spawn([process.execPath, SERVER_MAIN, 'import', file, '--owner', 'ann@example.com'], {
        env: { ...process.env, DATA_DIR: dataDir, PORT: '0', ...environment() },
        stdio: ['ignore', 'ignore', 'ignore'],
      })
      await Bun.sleep(delayMs)
      child.kill('SIGKILL')
      await child.exited
    }
    await served(async (url) => {
      const trpc = createTrpcClient(url, token)
      expect(await trpc.bases.list.query({ trash: true })).toEqual([])
      const bases = await trpc.bases.list.query({})
      // Some may have been completed.
      for (const { id } of bases.filter(({ title }) => title.startsWith('Shop')))
        expect(await trpc.schema.tables.query({ baseId: id })).toHaveLength(1)
      if (home === 'sqlite')
        expect(readdirSync(join(dataDir, 'bases')).filter((name) => name.endsWith('.db'))).toHaveLength(
          bases.length,
        )
    })
  })
})
