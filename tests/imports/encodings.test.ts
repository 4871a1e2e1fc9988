import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { detectFrom } from '../../src/core/csv/detect.ts'
import { CSV_ENCODINGS, type CsvEncoding } from '../../src/core/csv/format.ts'
import type { Base } from '../../src/core/model.ts'
import type { TestApp, TestUser } from '../support/app.ts'
import { analyse, type Door, ended, importTables, openImports, startImport, upload } from './support.ts'

let app: TestApp
let owner: TestUser
let base: Base
let door: Door

beforeAll(async () => {
  ;({ app, owner, base, door } = await openImports())
})
afterAll(() => app.stop())

type Bytes = Uint8Array<ArrayBuffer>

const tables = new Map<CsvEncoding, Map<string, number[]>>()

/** The bytes of each character: what the platform decodes, the other way round. */
function tableOf(encoding: CsvEncoding): Map<string, number[]> {
  const known = tables.get(encoding)
  if (known) return known
  const table = new Map<string, number[]>()
  const decoder = new TextDecoder(encoding)
  const add = (bytes: number[]) => {
    const text = decoder.decode(new Uint8Array(bytes))
    if ([...text].length === 1 && text !== '\ufffd' && !table.has(text)) table.set(text, bytes)
  }
  for (let byte = 0; byte < 256; byte++) add([byte])
  if (/shift|euc|gb|big/.test(encoding))
    for (let lead = 0x81; lead < 0xff; lead++)
      for (let trail = 0x40; trail < 0xff; trail++) add([lead, trail])
  tables.set(encoding, table)
  return table
}

function encode(text: string, encoding: CsvEncoding): Bytes {
  const table = tableOf(encoding)
  const bytes = [...text].flatMap((sign) => {
    const found = table.get(sign)
    if (!found) throw new Error(`${encoding} has no ${sign}`)
    return found
  })
  return new Uint8Array(bytes)
}

const TEXTS: Record<string, { encodings: CsvEncoding[]; text: string }> = {
  Japanese: {
    encodings: ['shift_jis', 'euc-jp'],
    text: '氏名,都道府県,備考\r\n山田太郎,東京都,担当者に確認済み\r\n鈴木花子,大阪府,テレビとソフト\r\n',
  },
  'a Japanese price list': {
    encodings: ['shift_jis'],
    text: 'コード,商品,価格\r\nA-1,りんご,120\r\nA-2,ﾐｶﾝ,80\r\n',
  },
  'simplified Chinese': {
    encodings: ['gb18030'],
    text: '姓名,城市,备注\r\n王小明,北京,已确认\r\n李娜,上海,客户要求尽快发货\r\n',
  },
  'a Chinese list of two': { encodings: ['gb18030'], text: '产品,数量\r\n苹果,3\r\n香蕉,5\r\n' },
  'traditional Chinese': {
    encodings: ['big5'],
    text: '姓名,城市,備註\r\n陳大文,臺北市,已確認\r\n林美玲,高雄市,請儘快出貨\r\n',
  },
  Korean: {
    encodings: ['euc-kr'],
    text: '이름,도시,비고\r\n김철수,서울,확인 완료\r\n이영희,부산,빠른 배송 요청\r\n',
  },
  Russian: {
    encodings: ['windows-1251', 'koi8-r', 'ibm866'],
    text: 'Имя,Город,Примечание\r\nИван Петров,Москва,Проверено\r\nАнна,Казань,Срочная доставка\r\n',
  },
  Greek: {
    encodings: ['windows-1253'],
    text: 'Όνομα,Πόλη\r\nΓιώργος,Αθήνα\r\nΜαρία,Θεσσαλονίκη\r\n',
  },
  Hebrew: { encodings: ['windows-1255'], text: 'שם,עיר\r\nדוד כהן,ירושלים\r\nשרה לוי,תל אביב\r\n' },
  Arabic: { encodings: ['windows-1256'], text: 'الاسم,المدينة\r\nمحمد علي,القاهرة\r\nفاطمة,الرياض\r\n' },
  Thai: { encodings: ['windows-874'], text: 'ชื่อ,เมือง\r\nสมชาย,กรุงเทพ\r\nมาลี,เชียงใหม่\r\n' },
  Turkish: {
    encodings: ['windows-1254'],
    text: 'İsim,Şehir\r\nAyşe Yıldız,İstanbul\r\nMehmet Öztürk,Diyarbakır\r\nÇağla Şahin,Muğla\r\n',
  },
  Polish: {
    encodings: ['windows-1250', 'iso-8859-2'],
    text: 'Imię,Miasto\r\nŁukasz Wójcik,Łódź\r\nMałgorzata,Kraków\r\nPaweł Żak,Gdańsk\r\n',
  },
  Czech: {
    encodings: ['windows-1250'],
    text: 'Jméno,Město\r\nJiří Dvořák,Plzeň\r\nZdeněk Šťastný,Děčín\r\n',
  },
  Hungarian: {
    encodings: ['windows-1250'],
    text: 'Név,Város\r\nSzőke Gergő,Győr\r\nNagy Ágnes,Pécs\r\nTűri,Eger\r\n',
  },
  German: {
    encodings: ['windows-1252', 'macintosh'],
    text: 'Name,Stadt\r\nMüller,München\r\nJäger,Köln\r\nWeiß,Düsseldorf\r\n',
  },
  French: {
    encodings: ['windows-1252', 'macintosh'],
    text: 'Prénom,Ville\r\nÉlodie,Orléans\r\nFrançois,livraison à l’hôtel\r\nNoël,Nîmes\r\n',
  },
  Swedish: { encodings: ['windows-1252'], text: 'Namn,Stad\r\nÅsa Öberg,Göteborg\r\nBjörn,Malmö\r\n' },
  'a price in euros': { encodings: ['windows-1252'], text: 'Item,Price\r\nTea,€ 2.00\r\n' },
  'a price in pounds': { encodings: ['windows-1252'], text: 'Item,Price\r\nTea,£2.00\r\n' },
  'a temperature': { encodings: ['windows-1252'], text: 'Sensor,Value\r\nA,21.5 °C\r\n' },
  'an apostrophe': { encodings: ['windows-1252'], text: 'Text,N\r\nIt’s “fine”,1\r\n' },
}

const cases = Object.entries(TEXTS).flatMap(([language, { encodings, text }]) =>
  encodings.map((encoding) => [language, encoding, text] as const),
)

/** Texts that read well in several encodings. */
const UNCLEAR: [string, Bytes][] = [
  ['two Korean words', encode('상품,1\r\n사과,2\r\n배,3\r\n', 'euc-kr')],
  ['one Polish word', encode('name,city\r\nPawel,Łódź\r\n', 'windows-1250')],
  ['one Japanese character', encode('a,b\r\nx,男\r\n', 'shift_jis')],
  ['one German name of a Mac', encode('Name,City\r\nMüller,Berlin\r\n', 'macintosh')],
  [
    'a code page that is not offered',
    new Uint8Array(Buffer.from('Name,City\r\nM\x81ller,M\x81nchen\r\n', 'latin1')),
  ],
]

describe('detecting the encoding of a text', () => {
  test.each(cases)('reads %s in %s', (_, encoding, text) => {
    const bytes = encode(text, encoding)
    const found = detectFrom([bytes], true)
    expect(new TextDecoder(found.encoding).decode(bytes)).toBe(text)
    expect(found.readings).toEqual([])
  })

  test('reads Japanese mail by its escape sequences', () => {
    const bytes = Buffer.from('\x1b$B;3ED\x1b(B,1\n', 'latin1')
    expect(detectFrom([bytes], true)).toEqual({ encoding: 'iso-2022-jp', readings: [] })
    expect(new TextDecoder('iso-2022-jp').decode(bytes)).toBe('山田,1\n')
  })

  test('reads UTF-8 with a damaged character as UTF-8, whose row is reported', () => {
    const bytes = Buffer.concat([Buffer.from('Zoë,1\n'.repeat(20)), Buffer.from([0xff, 0x0a])])
    expect(detectFrom([bytes], true)).toEqual({ encoding: 'utf-8', readings: [] })
  })

  test.each(UNCLEAR)('asks for %s, and shows how it reads', (_, bytes) => {
    const { encoding, readings } = detectFrom([bytes], true)
    expect(readings[0]?.encoding).toBe(encoding)
    expect(readings.every(({ excerpt }) => /[^\p{ASCII}]/u.test(excerpt))).toBe(true)
  })

  test('finds words deep in a long file', () => {
    const slice = Buffer.concat([
      Buffer.from([0x93, 0x0a]),
      encode('山田太郎,東京都\n鈴木,テレビ\n', 'shift_jis'),
    ])
    const head = Buffer.from('Name,City\n'.repeat(1000))
    expect(detectFrom([head, slice], false)).toEqual({ encoding: 'shift_jis', readings: [] })
  })
})

describe('an import of a text in another encoding', () => {
  test.each(CSV_ENCODINGS.map(({ name }) => name))('can be read in %s', (encoding) => {
    expect(new TextDecoder(encoding).encoding).toBe(encoding)
  })

  test('reads Shift JIS that begins after a megabyte, whatever the browser took it for', async () => {
    const text = '山田太郎,東京都\nソニー,大阪府\n'
    const file = new Uint8Array(
      Buffer.concat([Buffer.from('Ann,Oslo\n'.repeat(130_000)), encode(text, 'shift_jis')]),
    )
    const columns = [{ title: 'Name' }, { title: 'City' }]
    const jobId = await startImport(door, base.id, file, {
      title: 'Late',
      columns,
      format: { encoding: 'utf-8', header: false },
    })
    expect(await ended(door, jobId)).toMatchObject({
      status: 'completed',
      result: { rows: 130_002, encoding: 'shift_jis', problems: 0 },
    })
  })

  test('asks where the encoding is not clear, creates nothing, and takes the one that is chosen', async () => {
    const file = encode('Name,City\r\nPawel,Łódź\r\n', 'windows-1250')
    const columns = [{ title: 'Name' }, { title: 'City' }]
    const jobId = await startImport(door, base.id, file, {
      title: 'Asked',
      columns,
      format: { encoding: 'utf-8' },
    })
    const job = await ended(door, jobId)
    expect(job).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('windows-1250 (Pawel,Łódź)'),
    })
    const titles = (await app.trpc(owner.token).schema.tables.query({ baseId: base.id })).map(
      ({ title }) => title,
    )
    expect(titles).not.toContain('Asked')

    const uploadId = await upload(door, file)
    const [asked] = await analyse(door, uploadId, { readAll: true })
    expect(asked?.analysis?.encodings?.[0]).toEqual({ encoding: 'windows-1250', excerpt: 'Pawel,Łódź' })
    const chosen = await analyse(door, uploadId, { chosen: { encoding: 'windows-1250' } })
    expect(chosen[0]?.analysis?.encodings).toEqual([])
    const [imported] = await importTables(door, base.id, uploadId, chosen)
    expect(imported?.rows).toEqual([{ Name: 'Pawel', City: 'Łódź' }])
  })

  test('over REST asks for the encoding', async () => {
    const { table } = await app.trpc(owner.token).schema.createTable.mutate({
      baseId: base.id,
      title: 'Over REST',
      fields: [{ title: 'Name', type: 'SingleLineText' }],
    })
    const send = (query: string) =>
      fetch(`${app.url}/api/v2/tables/${table.id}/import${query}`, {
        method: 'POST',
        headers: { 'xc-auth': owner.token, 'content-type': 'application/octet-stream' },
        body: encode('Name\r\nŁódź\r\n', 'windows-1250'),
      })
    const refused = await send('')
    expect(refused.status).toBe(400)
    expect(await refused.text()).toContain('windows-1250 (Łódź)')
    const job = (await (await send('?encoding=windows-1250')).json()) as { id: string }
    expect(await ended(door, job.id)).toMatchObject({ status: 'completed', result: { rows: 1 } })
  })
})
