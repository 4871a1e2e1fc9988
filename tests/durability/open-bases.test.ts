import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openFilesBudget } from '../../src/db/open-files.ts'
import { createRestClient, createTrpcClient } from '../support/client.ts'
import { SERVER_MAIN } from '../support/server-main.ts'

const BASES = 200
const DESCRIPTORS = 256

test('the budget leaves half of the descriptors to connections', () => {
  expect([64, 256, 1024, 4096, 1_000_000].map((limit) => openFilesBudget(limit))).toEqual([
    4, 12, 89, 396, 2000,
  ])
})

describe.skipIf(process.platform !== 'linux')(`a server with ${DESCRIPTORS} file descriptors`, () => {
  let dataDir: string
  let child: Bun.Subprocess<'ignore', 'pipe', 'inherit'>
  let url: string
  let token: string
  const tables: string[] = []

  beforeAll(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'sheaf-descriptors-'))
    const command = `ulimit -n ${DESCRIPTORS}; exec "$0" "$1"`
    child = Bun.spawn(['sh', '-c', command, process.execPath, SERVER_MAIN], {
      env: { ...process.env, PORT: '0', HOST: '127.0.0.1', DATA_DIR: dataDir, LOG_LEVEL: 'info' },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'inherit',
    })
    url = await listening()
    const visitor = createTrpcClient(url)
    token = (
      await visitor.auth.signUp.mutate({ email: 'ann@example.com', password: 'correct horse battery' })
    ).token
  })
  afterAll(async () => {
    child.kill('SIGKILL')
    await child.exited
    rmSync(dataDir, { recursive: true, force: true })
  })

  async function listening(): Promise<string> {
    const reader = child.stdout.getReader()
    let printed = ''
    for (;;) {
      const { done, value } = await reader.read()
      if (done) throw new Error(`The server ended:\n${printed}`)
      printed += new TextDecoder().decode(value)
      const found = /"url":"(http[^"]+)"/.exec(printed)?.[1]
      if (found === undefined) continue
      void (async () => {
        while (!(await reader.read()).done);
      })()
      return found
    }
  }

  const openDescriptors = () => readdirSync(`/proc/${child.pid}/fd`).length
  const records = (tableId: string) => `/api/v2/tables/${tableId}/records`

  test(`serves ${BASES} bases, and says that it is ready`, async () => {
    const trpc = createTrpcClient(url, token)
    const rest = createRestClient(url, token)
    for (let at = 0; at < BASES; at++) {
      const { id: baseId } = await trpc.bases.create.mutate({ title: `Base ${at}` })
      const made = await trpc.schema.createTable.mutate({
        baseId,
        title: 'People',
        fields: [{ title: 'Name', type: 'SingleLineText' }],
      })
      tables.push(made.table.id)
      expect((await rest.post(records(made.table.id), { Name: `Ann ${at}` })).status).toBe(200)
    }
    expect(openDescriptors()).toBeLessThan(DESCRIPTORS / 2)
    // Back to those that were closed meanwhile: reading, counting in a thread, writing.
    for (const [at, tableId] of tables.entries()) {
      const read = await rest.get(records(tableId))
      expect(read.body.list).toMatchObject([{ Name: `Ann ${at}` }])
      expect((await rest.patch(records(tableId), { Id: 1, Name: `Bob ${at}` })).status).toBe(200)
    }
    expect(openDescriptors()).toBeLessThan(DESCRIPTORS / 2)
    const ready = await fetch(`${url}/api/v1/ready`)
    expect([ready.status, await ready.json()]).toEqual([
      200,
      { status: 'ready', problems: [], timestamp: expect.any(Number) },
    ])
  })

  test('serves many bases at the same time', async () => {
    const rest = createRestClient(url, token)
    const answers = await Promise.all(
      tables
        .slice(0, 16)
        .flatMap((tableId, at) => [
          rest.patch(records(tableId), { Id: 1, Name: `Cleo ${at}` }),
          rest.get(records(tableId)),
        ]),
    )
    expect(answers.filter(({ status }) => status !== 200)).toEqual([])
  })
})
