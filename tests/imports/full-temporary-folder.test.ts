import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { closeSync, mkdtempSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { strToU8, zipSync } from 'fflate'
import { PASSWORD } from '../support/app.ts'
import { createTrpcClient, type TrpcClient } from '../support/client.ts'
import { mountSmallVolume, type SmallVolume } from '../support/small-volume.ts'
import { type ServerProcess, startServerProcess } from './server-process.ts'
import { analyse, type Door, ended, startImport, upload } from './support.ts'

const FULL = 'The server’s folder for temporary files is full. Nothing was changed.'
const MEGABYTE = 1024 ** 2
const ROWS = 24_000

/** A workbook with 12 million characters in shared strings: 8 million of them go to a temporary file. */
function largeWorkbook(): Uint8Array<ArrayBuffer> {
  const texts = Array.from(
    { length: ROWS },
    (_, at) => `${at} ${Bun.hash(String(at)).toString(36).repeat(38)}`,
  )
  const relations = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
  const files = {
    '[Content_Types].xml': '<Types/>',
    'xl/workbook.xml': `<workbook xmlns:r="${relations}"><sheets><sheet name="Long" sheetId="1" r:id="r1"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `<Relationships><Relationship Id="r1" Type="${relations}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`,
    'xl/worksheets/sheet1.xml': `<worksheet><sheetData><row r="1"><c r="A1" t="str"><v>Text</v></c></row>${texts
      .map((_, at) => `<row r="${at + 2}"><c r="A${at + 2}" t="s"><v>${at}</v></c></row>`)
      .join('')}</sheetData></worksheet>`,
    'xl/sharedStrings.xml': `<sst>${texts.map((text) => `<si><t>${text}</t></si>`).join('')}</sst>`,
  }
  const packed = zipSync(
    Object.fromEntries(Object.entries(files).map(([name, text]) => [name, strToU8(text)])),
    { level: 1 },
  )
  return new Uint8Array(packed)
}

const mounted = mountSmallVolume(32)
if ('reason' in mounted) console.log(`Skipped: a full disk needs a small volume, and ${mounted.reason}`)

describe.skipIf('reason' in mounted)(
  'an import of a workbook whose texts do not fit into the temporary folder',
  () => {
    const volume = mounted as SmallVolume
    const filler = () => join(volume.path, 'filler')
    const dataDir = mkdtempSync(join(tmpdir(), 'sheaf-data-'))
    const file = largeWorkbook()
    let server: ServerProcess
    let door: Door
    let trpc: TrpcClient
    let baseId = ''

    beforeAll(async () => {
      server = await startServerProcess(dataDir, { TMPDIR: volume.path })
      const email = 'ann@example.com'
      const { token } = await createTrpcClient(server.url).auth.signUp.mutate({ email, password: PASSWORD })
      door = { url: server.url, token }
      trpc = createTrpcClient(server.url, token)
      baseId = (await trpc.bases.create.mutate({ title: 'Books' })).id
    })
    afterAll(async () => {
      await server?.end('SIGKILL')
      volume.remove()
      rmSync(dataDir, { recursive: true, force: true })
    })

    const room = () => {
      const { bavail, bsize } = statfsSync(volume.path)
      return bavail * bsize
    }
    const tables = async () => (await trpc.schema.tables.query({ baseId })).map(({ title }) => title)
    const start = () =>
      startImport(door, baseId, file, {
        title: 'Long',
        columns: [{ title: 'Text', type: 'LongText' }],
        otherFormat: { kind: 'excel', sheet: 0, titleRow: 1, firstRow: 1, firstColumn: 0, decimal: '.' },
      })

    test('ends with the reason, creates nothing and frees the room', async () => {
      const out = openSync(filler(), 'w')
      while (room() > 3 * MEGABYTE) writeSync(out, Buffer.alloc(MEGABYTE))
      closeSync(out)
      const before = room()
      expect(await analyse(door, await upload(door, file)).catch(({ message }) => message)).toBe(FULL)
      expect(await ended(door, await start())).toMatchObject({ status: 'failed', error: FULL })
      expect(await tables()).toEqual([])
      expect(room()).toBe(before)
    })

    test('succeeds once there is room, and frees it', async () => {
      rmSync(filler())
      const before = room()
      const [table] = await analyse(door, await upload(door, file))
      expect(table?.analysis).toMatchObject({ rowCount: ROWS, fields: [{ title: 'Text', type: 'LongText' }] })
      expect(await ended(door, await start())).toMatchObject({ status: 'completed', error: null })
      expect(await tables()).toEqual(['Long'])
      expect(room()).toBe(before)
    })
  },
)
