import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { ended, importNew, postUpload, startImport, upload } from '../imports/support.ts'
import { createRestClient, createTrpcClient } from '../support/client.ts'
import { SERVER_MAIN } from '../support/server-main.ts'
import { mountSmallVolume, type SmallVolume } from '../support/small-volume.ts'

const PASSWORD = 'correct horse battery'
const FULL = 'The server’s disk is full'

const mounted = mountSmallVolume(20)
if ('reason' in mounted) console.log(`Skipped: a full disk needs a small volume, and ${mounted.reason}`)

/** A server whose data folder and log lie on the small volume. */
describe.skipIf('reason' in mounted)('a server whose disk is full', () => {
  const volume = mounted as SmallVolume
  let child: Bun.Subprocess
  let url: string
  let token: string
  let baseId: string
  let tableId: string
  const logFile = () => join(volume.path, 'log')
  const filler = () => join(volume.path, 'filler')
  const records = () => `/api/v2/tables/${tableId}/records`
  const rest = () => createRestClient(url, token)
  const door = () => ({ url, token })

  beforeAll(async () => {
    child = Bun.spawn([process.execPath, SERVER_MAIN], {
      env: {
        ...process.env,
        PORT: '0',
        HOST: '127.0.0.1',
        DATA_DIR: join(volume.path, 'data'),
        // Every call writes a line.
        LOG_LEVEL: 'debug',
        NODE_ENV: 'production',
      },
      stdout: Bun.file(logFile()),
      stderr: 'inherit',
    })
    url = await listening()
    const visitor = createTrpcClient(url)
    token = (await visitor.auth.signUp.mutate({ email: 'ann@example.com', password: PASSWORD })).token
    const trpc = createTrpcClient(url, token)
    baseId = (await trpc.bases.create.mutate({ title: 'CRM' })).id
    const made = await trpc.schema.createTable.mutate({
      baseId,
      title: 'People',
      fields: [
        { title: 'Name', type: 'SingleLineText' },
        { title: 'Photo', type: 'Attachment' },
      ],
    })
    tableId = made.table.id
    await rest().post(records(), [{ Name: 'Ann' }, { Name: 'Bob' }])
  })

  afterAll(async () => {
    child?.kill('SIGKILL')
    await child?.exited
    volume.remove()
  })

  async function listening(): Promise<string> {
    for (;;) {
      const found = existsSync(logFile()) && /"url":"(http[^"]+)"/.exec(readFileSync(logFile(), 'utf8'))
      if (found) return found[1] ?? ''
      if (child.exitCode !== null) throw new Error(`The server ended with ${child.exitCode}`)
      await Bun.sleep(20)
    }
  }

  /** Takes what the volume has left. */
  function fill(): void {
    const file = openSync(filler(), 'a')
    for (const size of [64 * 1024, 4096, 1]) {
      try {
        for (;;) if (writeSync(file, Buffer.alloc(size)) < size) break
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error
      }
    }
    closeSync(file)
  }

  const names = async () =>
    (await rest().get(`${records()}?fields=Name&limit=1000`)).body.list.map(
      (row: { Name: string }) => row.Name,
    )

  const attach = (bytes: number) => {
    const form = new FormData()
    form.append('files', new File([new Uint8Array(bytes)], 'photo.bin'))
    return fetch(`${url}/api/v2/storage/upload`, {
      method: 'POST',
      headers: { 'xc-auth': token },
      body: form,
    })
  }

  test('refuses an upload that does not fit, keeps nothing of it and goes on', async () => {
    const answer = await postUpload(door(), new Uint8Array(30 * 1024 ** 2))
    expect(answer.status).toBe(507)
    expect((await answer.json()).message).toContain(FULL)
    expect(readdirSync(join(volume.path, 'data', 'uploads'))).toEqual([])
    expect(await names()).toEqual(['Ann', 'Bob'])
    expect(child.exitCode).toBeNull()
    expect(readFileSync(logFile(), 'utf8')).not.toMatch(/unhandled rejection|uncaught exception/)
  })

  test('refuses the part of an upload that does not fit, and removes those before', async () => {
    const headers = { 'xc-auth': token, 'content-type': 'application/json' }
    const body = JSON.stringify({ name: 'people.csv', size: 30 * 1024 ** 2 })
    const begun = await fetch(`${url}/api/internal/uploads/begin`, { method: 'POST', headers, body })
    const { uploadId } = (await begun.json()) as { uploadId: string }
    const send = (offset: number) =>
      fetch(`${url}/api/internal/uploads/${uploadId}?offset=${offset}`, {
        method: 'PATCH',
        headers: { 'xc-auth': token, 'content-type': 'application/octet-stream' },
        body: new Uint8Array(5 * 1024 ** 2),
      })
    let offset = 0
    let answer = await send(offset)
    while (answer.status === 200) {
      offset += 5 * 1024 ** 2
      answer = await send(offset)
    }
    expect([answer.status, (await answer.json()).message]).toEqual([507, expect.stringContaining(FULL)])
    expect(offset).toBeGreaterThan(0)
    expect(readdirSync(join(volume.path, 'data', 'uploads'))).toEqual([])
    expect(await names()).toEqual(['Ann', 'Bob'])
  })

  test('ends an import that does not fit, leaves nothing of it, and imports again when there is room', async () => {
    const text = `Name\n${`${'x'.repeat(999)}\n`.repeat(4000)}`
    const columns = [{ title: 'Name' }]
    const uploadId = await upload(door(), text)
    fill()
    // Room for the beginning of the rows.
    truncateSync(filler(), statSync(filler()).size - 2 * 1024 ** 2)
    const trpc = createTrpcClient(url, token)
    const format = {
      delimiter: ',',
      quote: '"',
      header: true,
      guarded: false,
      decimal: '.',
      encoding: 'utf-8',
    } as const
    const input = { baseId, uploadId, format, width: 1, columns: [{ index: 0 }] }
    const table = { title: 'Large', fields: [{ title: 'Name', type: 'SingleLineText' as const }] }
    const { jobId } = await trpc.imports.start.mutate({ ...input, table })
    const job = await ended(door(), jobId)
    expect(job).toMatchObject({ status: 'failed', error: expect.stringContaining(FULL) })
    expect((await trpc.schema.tables.query({ baseId })).map(({ title }) => title)).toEqual(['People'])
    expect(readdirSync(join(volume.path, 'data', 'reports'))).toEqual([])
    rmSync(filler())
    const again = await importNew(door(), baseId, 'Name\nEve\n', { title: 'Small', columns })
    expect(again.rows).toBe(1)
    await trpc.schema.deleteTable.mutate({ tableId: again.tableId })
    const database = new Database(join(volume.path, 'data', `bases/${baseId}.db`), { readonly: true })
    const staged = database
      .query("select name from sqlite_master where type = 'table' and name like 'sheaf_import%'")
      .all()
    database.close()
    expect(staged).toEqual([])
    expect(child.exitCode).toBeNull()
  })

  test('refuses an attachment that does not fit', async () => {
    const answer = await attach(15 * 1024 ** 2)
    const second = answer.status === 507 ? answer : await attach(15 * 1024 ** 2)
    expect(second.status).toBe(507)
    expect((await second.json()).message).toContain(FULL)
    expect(readdirSync(join(volume.path, 'data', 'incoming'))).toEqual([])
    expect(child.exitCode).toBeNull()
  })

  test('reads on while nothing can be written, and says why', async () => {
    const uploadId = await upload(door(), 'Name\nEve\n')
    const trpc = createTrpcClient(url, token)
    const spare = await trpc.schema.createTable.mutate({
      baseId,
      title: 'Spare',
      fields: [{ title: 'Name', type: 'SingleLineText' }],
    })
    fill()
    const big = 'x'.repeat(10_000)
    // Until the log's own file takes no more either.
    for (let call = 0; call < 50; call++) expect(await names()).toEqual(['Ann', 'Bob'])
    // And until the base is full: its files have some room, which what was deleted before has left.
    for (let call = 0, refused = 0; refused < 10; call++) {
      expect(call).toBeLessThan(5000)
      const { status } = await rest().post(`/api/v2/tables/${spare.table.id}/records`, { Name: big })
      refused = status === 507 ? refused + 1 : 0
    }

    const inserts = await Promise.all([1, 2, 3].map(() => rest().post(records(), { Name: big })))
    for (const { status, body } of inserts) {
      expect([status, body.message]).toEqual([507, `${FULL}. Nothing was changed.`])
    }
    const many = await rest().post(records(), new Array(100).fill({ Name: big }))
    expect(many.status).toBe(507)
    await expect(trpc.bases.create.mutate({ title: 'Other' })).rejects.toThrow(FULL)
    await expect(
      trpc.schema.createTable.mutate({
        baseId,
        title: 'T',
        fields: [{ title: 'A', type: 'SingleLineText' }],
      }),
    ).rejects.toThrow(FULL)
    await expect(
      createTrpcClient(url).auth.signUp.mutate({ email: 'bob@example.com', password: PASSWORD }),
    ).rejects.toThrow(FULL)
    await expect(startImport(door(), baseId, big, { columns: [{ title: 'Name' }] })).rejects.toThrow('507')
    await expect(
      trpc.imports.start.mutate({
        baseId,
        uploadId,
        format: { delimiter: ',', quote: '"', header: true, guarded: false, decimal: '.', encoding: 'utf-8' },
        width: 1,
        columns: [{ index: 0 }],
        table: { title: 'Imported', fields: [{ title: 'Name', type: 'SingleLineText' }] },
      }),
    ).rejects.toThrow(FULL)
    expect((await attach(100_000)).status).toBe(507)
    const exported = await fetch(`${url}/api/v2/export/${tableId}/csv`, {
      method: 'POST',
      headers: { 'xc-auth': token },
    })
    await exported.text()
    expect(await names()).toEqual(['Ann', 'Bob'])
    expect((await fetch(`${url}/api/v1/health`)).status).toBe(200)
    expect(child.exitCode).toBeNull()
  })

  test('takes up its work where there is room again, and has lost nothing', async () => {
    rmSync(filler())
    const created = await rest().post(records(), { Name: 'Cleo' })
    expect(created.status).toBe(200)
    expect(await names()).toEqual(['Ann', 'Bob', 'Cleo'])
    const imported = await importNew(door(), baseId, 'Name\nEve\n', {
      title: 'Imported',
      columns: [{ title: 'Name' }],
    })
    expect(imported.rows).toBe(1)
    child.kill('SIGTERM')
    expect(await child.exited).toBe(0)
    for (const file of ['sheaf.db', `bases/${baseId}.db`]) {
      const database = new Database(join(volume.path, 'data', file), { readonly: true })
      expect(database.query('pragma integrity_check').all()).toEqual([{ integrity_check: 'ok' }])
      database.close()
    }
  })
})
