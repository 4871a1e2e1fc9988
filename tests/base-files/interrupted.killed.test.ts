import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ServerProcess, startServerProcess } from '../imports/server-process.ts'
import { type Door, ended, type JobAnswer, upload } from '../imports/support.ts'
import { META_DATABASES, PASSWORD } from '../support/app.ts'
import { createRestClient, createTrpcClient } from '../support/client.ts'
import { createDatabase, type TestDatabase } from '../support/servers.ts'
import { mountSmallVolume } from '../support/small-volume.ts'

/** Enough for a job to be interrupted in its middle. */
const ROWS = 20_000
/** For a dozen bases, and as many files of them. */
const VOLUME_MB = 300
const STOPPED = 'The server stopped while this was running. No changes were made.'

describe.each(META_DATABASES)('a file of a base with its home in %s', (home) => {
  let disk: Disk
  let database: TestDatabase | null = null
  let server: ServerProcess | null = null
  let door: Door = { url: '', token: '' }
  let baseId = ''
  /** The original as a file. */
  let bytes: Uint8Array<ArrayBuffer>
  /** The ids of all bases before anything is tried. */
  let originals: string[] = []
  let files = 0

  beforeAll(async () => {
    disk = openDisk()
    if (home === 'postgres') database = await createDatabase('postgres')
    await begin()
    bytes = await exported()
  })
  afterAll(async () => {
    await server?.end('SIGKILL')
    disk.remove()
    await database?.drop()
  })

  beforeEach(async () => {
    originals = (await trpc().bases.list.query({})).map(({ id }) => id)
    files = storedFiles()
  })

  const start = async (): Promise<void> => {
    server = await startServerProcess(disk.dataDir, database ? { DATABASE_URL: database.url } : {})
    door = { url: server.url, token: door.token }
  }
  const trpc = () => createTrpcClient(door.url, door.token)

  /** A server with a base of many records and a file. */
  async function begin(): Promise<void> {
    await start()
    const { token } = await createTrpcClient(door.url).auth.signUp.mutate({
      email: 'ann@example.com',
      password: PASSWORD,
    })
    door = { url: door.url, token }
    baseId = (await trpc().bases.create.mutate({ title: 'Original' })).id
    const { table } = await trpc().schema.createTable.mutate({
      baseId,
      title: 'Many',
      fields: [
        { title: 'Name', type: 'SingleLineText' },
        { title: 'Age', type: 'Number' },
        { title: 'Photo', type: 'Attachment' },
      ],
    })
    await trpc().schema.createField.mutate({
      tableId: table.id,
      field: { title: 'Twice', type: 'Formula', options: { formula: '{Age} * 2' } } as never,
    })
    const rest = createRestClient(door.url, token)
    const path = `/api/v2/tables/${table.id}/records`
    const form = new FormData()
    form.append('files', new File([crypto.getRandomValues(new Uint8Array(50_000))], 'photo.bin'))
    const sent = await fetch(`${door.url}/api/v2/storage/upload`, {
      method: 'POST',
      headers: { 'xc-auth': token },
      body: form,
    })
    const photo = await sent.json()
    for (let from = 0; from < ROWS; from += 10_000) {
      const page = Array.from({ length: 10_000 }, (_, at) => ({
        Name: `Somebody with quite a long name ${from + at}`,
        Age: at % 100,
        ...(from + at === 0 && { Photo: photo }),
      }))
      expect((await rest.post(path, page)).status).toBe(200)
    }
  }

  const startExport = async () => (await trpc().baseFiles.export.mutate({ baseId, withHistory: true })).jobId
  const bytesOf = async (job: JobAnswer): Promise<Uint8Array<ArrayBuffer>> => {
    expect([job.status, job.error]).toEqual(['completed', null])
    const answer = await fetch(`${door.url}/${(job.result as { url: string }).url}`)
    return new Uint8Array(await answer.arrayBuffer())
  }
  const exported = async () => bytesOf(await ended(door, await startExport()))
  async function startImport(): Promise<string> {
    const uploadId = await upload(door, bytes, 'base.sheaf')
    return (await trpc().baseFiles.import.mutate({ uploadId })).jobId
  }

  /** Starts a job and waits until it is in its middle; again, if it was faster. */
  async function underWay(begin: () => Promise<string>): Promise<string> {
    for (;;) {
      const jobId = await begin()
      for (;;) {
        const { status, progress, result } = await trpc().jobs.get.query({ jobId })
        if (progress.done > 1_000 && status === 'active') return jobId
        if (status === 'waiting' || status === 'active') {
          await Bun.sleep(2)
          continue
        }
        if (status !== 'completed') throw new Error(`The job is ${status} already`)
        if (begin === startImport) originals.push((result as { id: string }).id)
        files = storedFiles()
        break
      }
    }
  }

  /** The homes that there are, by the id of their base. */
  async function homes(): Promise<string[]> {
    if (!database) {
      const names = readdirSync(join(disk.dataDir, 'bases'))
      return [...new Set(names.map((name) => name.split('.')[0] ?? ''))].toSorted()
    }
    await using sql = new Bun.SQL(database.url, { max: 1 })
    const rows: { name: string }[] =
      await sql`select nspname as name from pg_namespace where nspname like 'nc\\_%'`
    return rows.map(({ name }) => name.slice(3)).toSorted()
  }

  function storedFiles(): number {
    const folder = join(disk.dataDir, 'attachments')
    if (!existsSync(folder)) return 0
    return readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
      .length
  }

  /**
   * Nothing is there but what was there before and these bases, and the original is whole.
   * @param files the number of stored files, which a completed job may have changed
   */
  async function nothingIsLeft({ also = [], files }: { also?: string[]; files?: number }): Promise<void> {
    const bases = await trpc().bases.list.query({})
    expect(bases.map(({ id }) => id).toSorted()).toEqual([...originals, ...also].toSorted())
    expect(await trpc().bases.list.query({ trash: true })).toEqual([])
    expect(await homes()).toEqual([...originals, ...also].toSorted())
    // Cleaned after the start.
    for (
      let waited = 0;
      waited < 5_000 && readdirSync(join(disk.dataDir, 'incoming')).length > 0;
      waited += 50
    )
      await Bun.sleep(50)
    expect(readdirSync(join(disk.dataDir, 'incoming'))).toEqual([])
    if (files !== undefined) expect(storedFiles()).toBe(files)
    const [table] = await trpc().schema.tables.query({ baseId })
    const { count } = await trpc().records.count.query({ selection: { tableId: table?.id ?? '' } })
    expect(count).toBeGreaterThan(0)
  }

  async function restart(): Promise<void> {
    await server?.end('SIGKILL')
    await start()
  }

  test('is not there after a kill while it is written', async () => {
    const jobId = await underWay(startExport)
    await restart()
    expect(await ended(door, jobId)).toMatchObject({ status: 'failed', error: STOPPED, result: null })
    await nothingIsLeft({ files })
    expect((await exported()).length).toBeGreaterThan(500_000)
  })

  test('leaves nothing of a base after a kill while it is opened, and can be opened again', async () => {
    const jobId = await underWay(startImport)
    await restart()
    expect(await ended(door, jobId)).toMatchObject({ status: 'failed', error: STOPPED, result: null })
    await nothingIsLeft({ files })
    const again = await ended(door, await startImport())
    const { id, rows } = again.result as { id: string; rows: number }
    expect(rows).toBe(ROWS)
    await nothingIsLeft({ also: [id] })
  })

  test('leaves whole bases or none, whenever the server is killed', async () => {
    const also: string[] = []
    for (const delayMs of [0, 130, 300]) {
      const [write, read] = [await startExport(), await startImport()]
      await Bun.sleep(delayMs)
      await restart()
      const [written, opened] = [await ended(door, write), await ended(door, read)]
      for (const { status, error } of [written, opened])
        expect(status === 'completed' ? null : error).toBe(status === 'completed' ? null : STOPPED)
      if (opened.status === 'completed') also.push((opened.result as { id: string }).id)
      if (written.status === 'completed') expect((await bytesOf(written)).length).toBeGreaterThan(100_000)
      await nothingIsLeft({ also })
    }
    for (const id of also) {
      const [table] = await trpc().schema.tables.query({ baseId: id })
      const { count } = await trpc().records.count.query({ selection: { tableId: table?.id ?? '' } })
      expect(count).toBe(ROWS)
    }
  }, 180_000)

  test('is not there after its job was cancelled, and neither is the base', async () => {
    for (const begun of [startExport, startImport]) {
      const jobId = await underWay(begun)
      await trpc().jobs.cancel.mutate({ jobId })
      expect(await ended(door, jobId)).toMatchObject({ status: 'cancelled', result: null, error: null })
      await nothingIsLeft({ files })
    }
  })

  test('is not there where the disk is full, and neither is the base; the job says so', async () => {
    if (disk.missing !== null)
      return console.log(`Skipped: a full disk needs a small volume, and ${disk.missing}`)
    const uploads = [await upload(door, bytes, 'base.sheaf'), await upload(door, bytes, 'base.sheaf')]
    const filler = join(disk.path, 'filler')
    // Room for a part of what is written.
    const room = 400_000
    const { stdout } = Bun.spawnSync(['df', '--output=avail', '-B1', disk.path])
    const free = Number(stdout.toString().trim().split('\n').at(-1))
    await Bun.write(filler, new Uint8Array(Math.max(0, free - room)))
    const full = { status: 'failed', error: expect.stringContaining('disk is full'), result: null }
    expect(await ended(door, await startExport())).toMatchObject(full)
    const opening = await trpc().baseFiles.import.mutate({ uploadId: uploads[0] ?? '' })
    const opened = await ended(door, opening.jobId)
    // The records of a base in PostgreSQL are on another disk; its files are not.
    if (home === 'sqlite') expect(opened).toMatchObject(full)
    const also = opened.status === 'completed' ? [opening.baseId] : []
    await nothingIsLeft({ also, ...(also.length === 0 && { files }) })
    rmSync(filler)
    const again = await trpc().baseFiles.import.mutate({ uploadId: uploads[1] ?? '' })
    expect((await ended(door, again.jobId)).status).toBe('completed')
    await nothingIsLeft({ also: [...also, again.baseId] })
  })
})

interface Disk {
  path: string
  dataDir: string
  /** Why it cannot be filled; null if it can. */
  missing: string | null
  remove(): void
}

/** A small volume for the data, which a test can fill; an ordinary folder where none can be mounted. */
function openDisk(): Disk {
  const volume = mountSmallVolume(VOLUME_MB)
  if (!('reason' in volume))
    return { path: volume.path, dataDir: join(volume.path, 'data'), missing: null, remove: volume.remove }
  const path = mkdtempSync(join(tmpdir(), 'sheaf-file-'))
  const remove = () => rmSync(path, { recursive: true, force: true })
  return { path, dataDir: join(path, 'data'), missing: volume.reason, remove }
}
