import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readLinks } from '../../src/core/fields/list-value.ts'
import { type AirtableServer, startAirtableServer } from '../support/airtable-server.ts'
import { createTestApp, type TestApp, type TestUser } from '../support/app.ts'
import { airtableBase, airtableTable, fromAirtable, recordsOf, settled } from './support.ts'

let app: TestApp
let owner: TestUser
let server: AirtableServer

const people = airtableTable('People', { Name: 'singleLineText', Mail: 'email', City: 'singleLineText' }, [
  { Name: 'Ann', Mail: 'ann@example.com', City: 'London' },
  { Name: 'Bo', Mail: 'bo@example.com', City: 'Berlin' },
])
const tasks = airtableTable(
  'Tasks',
  {
    Task: 'singleLineText',
    Notes: 'multilineText',
    Price: { type: 'currency', options: { precision: 2, symbol: '€' } },
    Cost: { type: 'currency', options: { precision: 2, symbol: 'kr' } },
    Share: { type: 'percent', options: { precision: 1 } },
    Count: { type: 'number', options: { precision: 0 } },
    Weight: { type: 'number', options: { precision: 3 } },
    Status: {
      type: 'singleSelect',
      options: {
        choices: [
          { id: 'sel1', name: 'To do', color: 'blueLight2' },
          { id: 'sel2', name: 'Done', color: 'greenBright' },
        ],
      },
    },
    Tags: {
      type: 'multipleSelects',
      options: {
        choices: [
          { id: 'sel3', name: 'a, b' },
          { id: 'sel4', name: 'c\0' },
        ],
      },
    },
    Due: { type: 'date', options: { dateFormat: { name: 'european', format: 'D/M/YYYY' } } },
    At: {
      type: 'dateTime',
      options: {
        dateFormat: { name: 'iso', format: 'YYYY-MM-DD' },
        timeFormat: { name: '24hour', format: 'HH:mm' },
        timeZone: 'Europe/Berlin',
      },
    },
    Took: { type: 'duration', options: { durationFormat: 'h:mm:ss' } },
    Stars: { type: 'rating', options: { icon: 'heart', max: 3, color: 'redBright' } },
    Checked: { type: 'checkbox', options: { icon: 'check', color: 'greenBright' } },
    Owner: 'singleCollaborator',
    Files: { type: 'multipleAttachments', options: { isReversed: false } },
    Made: { type: 'createdTime', options: { result: { type: 'dateTime', options: { timeZone: 'utc' } } } },
    Rich: 'richText',
    Summary: 'aiText',
    Page: 'url',
    Phone: 'phoneNumber',
    Code: 'barcode',
    Push: 'button',
    No: 'autoNumber',
    Changed: {
      type: 'lastModifiedTime',
      options: { result: { type: 'dateTime', options: { timeZone: 'utc' } } },
    },
    Changer: 'lastModifiedBy',
    Maker: 'createdBy',
    Team: 'multipleCollaborators',
    Synced: 'externalSyncSource',
    Strange: 'somethingNew',
  },
  [],
)

beforeAll(async () => {
  const [ann, bo] = people.records
  const link = {
    id: 'fldlink0000000001',
    name: 'Person',
    type: 'multipleRecordLinks',
    options: { linkedTableId: people.id, inverseLinkFieldId: 'fldlink0000000002' },
  }
  tasks.fields.push(link)
  people.fields.push({
    id: 'fldlink0000000002',
    name: 'Their tasks',
    type: 'multipleRecordLinks',
    options: { linkedTableId: tasks.id, inverseLinkFieldId: link.id },
  })
  const base = airtableBase('Work', [people, tasks])
  const task = (id: string, values: Record<string, unknown>) => ({
    id,
    createdTime: '2024-03-05T08:20:30.000Z',
    fields: Object.fromEntries(
      Object.entries(values).map(([title, value]) => [
        title === 'Person' ? link.id : tasks.field(title),
        value,
      ]),
    ),
  })
  tasks.records = [
    task('recTask1', {
      Task: 'One',
      Notes: 'two\nlines',
      Price: 12.5,
      Share: 0.07,
      Count: 3,
      Weight: 1.125,
      Status: 'Done',
      Tags: ['a, b', 'c\0'],
      Due: '2024-02-29',
      At: '2024-03-05T08:20:30.000Z',
      Took: 3661,
      Stars: 2,
      Checked: true,
      Owner: { id: 'usr1', email: 'person1@example.com', name: 'Person' },
      Files: [{ id: 'att1', filename: 'a.txt', size: 5, type: 'text/plain' }],
      Made: '2024-03-05T08:20:30.000Z',
      Rich: '**bold**',
      Summary: { state: 'generated', isStale: false, value: 'Short' },
      Page: 'https://example.com/a',
      Phone: '+49 30 123456',
      Code: { text: '4006381333931', type: 'ean13' },
      Push: { label: 'Open', url: 'https://example.com/b' },
      No: 7,
      Changed: '2024-03-06T08:20:30.000Z',
      Changer: { id: 'usr1', email: 'person1@example.com', name: 'Person' },
      Maker: { id: 'usr1', email: 'person1@example.com', name: 'Person' },
      Team: [
        { id: 'usr1', email: 'person1@example.com', name: 'Person' },
        { id: 'usr3', email: 'away@example.com', name: 'Away' },
      ],
      Synced: { id: 'sync1', name: 'Calendar', color: 'blue' },
      Strange: { x: 1 },
      Person: [ann!.id, bo!.id],
    }),
    task('recTask2', {
      Task: 'Two',
      // PostgreSQL cannot store null characters and halves of emoji.
      Status: 'Unknown\0',
      Notes: 'a\ud83d \\u0000 😀',
      Summary: { state: 'empty', isStale: true, value: null },
      Owner: { id: 'usr2', email: 'gone@example.com', name: 'Gone' },
      Made: '2024-03-05T08:20:30.000Z',
    }),
  ]
  // Airtable lists links at both ends.
  for (const person of people.records) person.fields.fldlink0000000002 = ['recTask1']
  server = startAirtableServer({ bases: [base] })
  server.files.set('att1', new TextEncoder().encode('hello'))
  app = await createTestApp({
    config: { airtableApiUrl: server.url, allowLocalHttp: true, airtableRequestsPerSecond: 500 },
  })
  owner = await app.signUp('person1@example.com')
  baseId = base.id
})
let baseId: string
afterAll(async () => {
  await app.stop()
  await server.stop()
})

describe('an import from Airtable by token', () => {
  test('brings tables, fields, records, links and files, and reports the rest', async () => {
    const trpc = app.trpc(owner.token)
    const started = await trpc.baseImports.begin.mutate(fromAirtable(baseId))
    const done = await settled(app, owner, started.id)
    expect(done).toMatchObject({ status: 'completed', error: null, hasCredentials: false })
    const { rows, schema } = await recordsOf(app, owner, done.baseId!, 'Tasks')
    const field = (title: string) => schema.fields.find((one) => one.title === title)!
    const { Files, Person, ...first } = rows[0]!
    expect(first).toMatchObject({
      Task: 'One',
      Notes: 'two\nlines',
      Price: 12.5,
      Share: 7,
      Count: 3,
      Weight: 1.125,
      Status: 'Done',
      Tags: 'a; b,c',
      Due: '2024-02-29',
      At: '2024-03-05 08:20:30+00:00',
      Took: 3661,
      Stars: 2,
      Checked: true,
      Owner: owner.id,
      Made: '2024-03-05 08:20:30+00:00',
      Rich: '**bold**',
      Summary: 'Short',
      Page: 'https://example.com/a',
      Phone: '+49 30 123456',
      Code: '4006381333931',
      Push: 'https://example.com/b',
      No: 7,
      Changed: '2024-03-06 08:20:30+00:00',
      Changer: owner.id,
      Maker: owner.id,
      Team: owner.id,
      Synced: 'Calendar',
    })
    expect(rows[1]).toMatchObject({ Notes: 'a\ufffd \\u0000 😀', Summary: null })
    expect(readLinks(Person as string).records.map(({ title }) => title)).toEqual(['Ann', 'Bo'])
    expect(JSON.parse(String(Files))).toMatchObject([{ title: 'a.txt', size: 5, mimetype: 'text/plain' }])
    expect(field('Price').options).toMatchObject({ code: 'EUR', precision: 2 })
    expect(field('Due').options).toMatchObject({ format: 'DD/MM/YYYY' })
    expect(field('At').options).toMatchObject({ timeZone: 'Europe/Berlin' })
    expect(field('Stars').options).toMatchObject({ max: 3, icon: 'heart' })
    expect(field('Made').type).toBe('CreatedTime')
    const { rows: others } = await recordsOf(app, owner, done.baseId!, 'People')
    expect(readLinks(others[0]!['Their tasks'] as string).records.map(({ title }) => title)).toEqual(['One'])
    const report = await trpc.baseImports.report.query({ importId: done.id })
    const lines = report.map(({ fieldTitle, recordId, value }) => [fieldTitle, recordId, value])
    expect(lines).toContainEqual(['Strange', null, null])
    const notes = report.filter(({ fieldTitle }) => fieldTitle === 'Cost' || fieldTitle === 'Price')
    expect(notes).toMatchObject([{ fieldTitle: 'Cost', reason: expect.stringContaining('SEK is shown') }])
    expect(lines).toContainEqual(['Status', 'recTask2', 'Unknown'])
    const tags = report.filter(({ fieldTitle }) => fieldTitle === 'Tags')
    expect(tags).toMatchObject([{ kind: 'changed', reason: expect.stringContaining('semicolons') }])
    const wholes = report.filter(
      ({ kind, fieldTitle, viewTitle }) => kind === 'note' && !fieldTitle && !viewTitle,
    )
    expect(wholes.map(({ tableTitle, reason }) => [tableTitle, reason])).toEqual([
      [null, expect.stringContaining('interfaces, automations, extensions')],
      ['Tasks', expect.stringContaining('another source')],
    ])
    const people = report.filter(({ value }) => value?.endsWith('@example.com'))
    expect(people.map(({ value, reason }) => [value, /\((.*)\)/.exec(reason)?.[1]]).toSorted()).toEqual([
      ['away@example.com', 'Tasks: Team'],
      ['gone@example.com', 'Tasks: Owner'],
    ])
  })
})
