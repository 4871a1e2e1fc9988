import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeEntries } from '../../src/db/change-log/removal.ts'
import { doorOf, ended } from '../imports/support.ts'
import { type Bench, benchOf, createBench, type TestTable } from '../records/support.ts'
import { connect, createForeign } from '../sources/support.ts'
import { createBase } from '../support/factories.ts'
import { asked } from '../views/support.ts'
import { BACKUP_TIMEOUT_MS, settingsOf } from './support.ts'

setDefaultTimeout(BACKUP_TIMEOUT_MS)

let main: Bench
/** Of a base of its own for each test. */
let bench: Bench
const place = mkdtempSync(join(tmpdir(), 'sheaf-places-'))

beforeAll(async () => {
  main = await createBench()
})
afterAll(async () => {
  await main.stop()
  rmSync(place, { recursive: true, force: true })
})

const end = (jobId: string) => ended(doorOf(main.app, main.owner), jobId)

interface Shop {
  orders: TestTable
  customers: TestTable
  linkId: string
  ownerId: string
  twinId: string
  numberId: string
}

/** A base with two linked tables, a computed field of each kind, and a second view. */
async function fill(): Promise<Shop> {
  const { id } = await createBase(main.app, main.owner)
  bench = benchOf(main.app, main.owner, id)
  const { trpc } = bench
  const customers = await bench.table({ Title: 'SingleLineText', Town: 'SingleLineText' }, [
    { Title: 'Ada', Town: 'Rome' },
    { Title: 'Bea', Town: 'Oslo' },
  ])
  const choices = ['open', 'paid', 'sent'].map((title, index) => ({
    id: `ch${index}`,
    title,
    color: '#cfdffe',
  }))
  const orders = await bench.table(
    {
      Title: 'SingleLineText',
      Qty: 'Number',
      Code: { type: 'SingleLineText', unique: true },
      Status: { type: 'SingleSelect', options: { choices } },
      Tags: { type: 'MultiSelect', options: { choices } },
      Changed: 'LastModifiedTime',
    },
    [
      { Title: 'o1', Qty: 2, Code: 'a', Status: 'open', Tags: 'open,paid' },
      { Title: 'o2', Qty: 5, Code: 'b', Status: 'paid' },
      { Title: 'o3', Qty: 7, Code: 'c', Status: 'sent', Tags: 'sent' },
      { Title: 'o4', Code: 'd' },
    ],
  )
  const add = (title: string, type: string, options: object) =>
    trpc.schema.createField.mutate({ tableId: orders.id, field: { title, type, options } as never })
  const link = await add('Customer', 'Links', { kind: 'mm', relatedTableId: customers.id })
  await add('Double', 'Formula', { formula: '{Qty} * 2' })
  const number = await add('Number', 'AutoNumber', {})
  const owner = await add('Owner', 'LinkToAnotherRecord', { kind: 'bt', relatedTableId: customers.id })
  const twin = await add('Twin', 'Links', { kind: 'oo', relatedTableId: customers.id })
  await add('Towns', 'Lookup', { relationFieldId: link.id, targetFieldId: customers.field('Town').id })
  await trpc.records.write.mutate({
    change: {
      baseId: bench.baseId,
      operations: [
        { kind: 'link', tableId: orders.id, fieldId: link.id, id: 1, targets: [1, 2] },
        { kind: 'link', tableId: orders.id, fieldId: link.id, id: 3, targets: [2] },
        { kind: 'link', tableId: orders.id, fieldId: owner.id, id: 1, targets: [1] },
        { kind: 'link', tableId: orders.id, fieldId: owner.id, id: 2, targets: [1] },
        { kind: 'link', tableId: orders.id, fieldId: twin.id, id: 4, targets: [2] },
      ],
    },
  })
  const open = await trpc.views.create.mutate({ tableId: orders.id, title: 'Open', kind: 'grid' })
  const status = orders.field('Status').id
  await trpc.views.update.mutate({
    viewId: open.id,
    patch: {
      filter: { fieldId: status, operator: 'eq', value: 'open' },
      sorts: [{ fieldId: orders.field('Qty').id, direction: 'desc' }],
    },
  })
  await trpc.views.arrange.mutate({
    viewId: open.id,
    fields: [
      { fieldId: orders.field('Code').id, show: false },
      { fieldId: status, width: 321 },
    ],
  })
  await trpc.views.create.mutate({
    tableId: orders.id,
    title: 'Board',
    kind: 'kanban',
    options: { stackFieldId: status },
  })
  return { orders, customers, linkId: link.id, ownerId: owner.id, twinId: twin.id, numberId: number.id }
}

const tablesOf = (baseId: string) => main.trpc.schema.tables.query({ baseId })

const isLink = ({ type }: { type: string }) => type === 'Links' || type === 'LinkToAnotherRecord'

/** Everything in a base that people see, with titles in place of ids. */
async function picture(baseId: string): Promise<unknown> {
  const tables = await tablesOf(baseId)
  const schemas = await Promise.all(tables.map(({ id }) => main.trpc.schema.table.query({ tableId: id })))
  const names = new Map<string, string>()
  for (const { table, fields, views } of schemas) {
    names.set(table.id, `T ${table.title}`)
    for (const field of fields) names.set(field.id, `F ${table.title}.${field.title}`)
    for (const view of views) names.set(view.id, `V ${table.title}.${view.title}`)
  }
  const seen = []
  for (const { table, fields, views } of schemas) {
    const { body } = await main.rest.get(
      `/api/v2/tables/${table.id}/records?limit=1000&nested[Customer][limit]=100`,
    )
    const links = []
    for (const field of fields.filter((each) => isLink(each) && !each.isSystem))
      for (const { Id } of body.list) {
        const linked = await main.rest.get(`/api/v2/tables/${table.id}/links/${field.id}/records/${Id}`)
        links.push([
          field.title,
          Id,
          (linked.body.list ?? [linked.body]).map(({ Title }: { Title: string }) => Title),
        ])
      }
    const inViews = await Promise.all(
      views.map(async ({ id, title }) => {
        const shown = await main.rest.get(`/api/v2/tables/${table.id}/records?viewId=${id}&fields=Title`)
        return [title, shown.body.list]
      }),
    )
    const { comments } = await main.trpc.comments.list.query({ tableId: table.id, recordId: 1 })
    const { columns } = (await main.rest.get(`/api/v2/meta/tables/${table.id}`)).body
    seen.push({
      metas: columns.flatMap(({ title, system, meta }: Record<string, object>) =>
        system ? [] : [[title, { ...meta, defaultViewColOrder: null }]],
      ),
      table: { title: table.title, description: table.description, meta: table.meta },
      fields: fields
        .filter(({ isSystem }) => !isSystem)
        .map(
          ({
            title,
            type,
            options,
            description,
            required,
            unique,
            defaultValue,
            isDisplay,
            error,
            result,
          }) => ({
            title,
            type,
            // The parts of a link have names of their own.
            options: isLink({ type }) ? (options as { kind: string }).kind : options,
            description,
            required,
            unique,
            defaultValue,
            isDisplay,
            error,
            result,
          }),
        ),
      views: views.map(({ id: _1, tableId: _2, ...view }) => ({
        ...view,
        // Only the order of these numbers matters.
        fields: view.fields
          .filter(({ fieldId }) =>
            fields.some(({ id, isSystem, type }) => id === fieldId && !isSystem && type !== 'ForeignKey'),
          )
          .toSorted((x, y) => x.order - y.order)
          .map(({ order: _, ...field }) => field),
      })),
      records: body.list,
      inViews,
      links,
      comments: comments.map(({ text, resolvedBy }) => ({ text, isResolved: resolvedBy !== null })),
    })
  }
  const text = JSON.stringify(seen, (key, value) => (key === 'id' ? undefined : value))
  return JSON.parse([...names].reduce((each, [id, name]) => each.replaceAll(id, name), text))
}

/** Right after everything that was done so far: the next change is of another millisecond. */
async function momentNow(): Promise<string> {
  await Bun.sleep(3)
  const at = new Date().toISOString()
  await Bun.sleep(3)
  return at
}

async function restoreTo(at: string): Promise<{ baseId: string; notRewound: unknown }> {
  const { body } = await main.rest.post(`/api/v2/meta/backups/bases/${bench.baseId}/restore`, { at })
  const job = await end(body.jobId)
  expect([job.status, job.error]).toEqual(['completed', null])
  return { baseId: body.baseId, notRewound: (job.result as { notRewound: unknown }).notRewound }
}

/** Restores the base to a time before some changes, and expects it to be as it was, and the present one as it is. */
async function expectBack(change: () => Promise<unknown>): Promise<void> {
  const before = await picture(bench.baseId)
  const at = await momentNow()
  await change()
  const now = await picture(bench.baseId)
  expect(now).not.toEqual(before)
  const { baseId, notRewound } = await restoreTo(at)
  expect(await picture(baseId)).toEqual(before)
  expect(notRewound).toEqual([])
  expect(await picture(bench.baseId)).toEqual(now)
  // The restored base works.
  const [first] = await tablesOf(baseId)
  expect((await main.rest.post(`/api/v2/tables/${first?.id}/records`, { Title: 'new' })).status).toBe(200)
}

const viewOf = async ({ id }: TestTable, title: string) => {
  const { views } = await bench.trpc.schema.table.query({ tableId: id })
  const found = views.find((view) => view.title === title)
  if (!found) throw new Error(`There is no view ${title}`)
  return found
}

const updateField = (fieldId: string, patch: object) =>
  bench.trpc.schema.updateField.mutate({ fieldId, patch: patch as never })

const undo = () => bench.trpc.records.undo.mutate({ baseId: bench.baseId })

const MOMENTS = Number(process.env.REWIND_MOMENTS ?? 3)

/** Numbers from 0 to below `max`, the same for the same seed. */
function seeded(seed: number): (max: number) => number {
  let state = seed
  return (max) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return Math.floor((state / 2 ** 31) * max)
  }
}

/** Changes something of the base. What is refused changes nothing. */
async function changeSomething(random: (max: number) => number): Promise<string> {
  const { trpc, rest, baseId } = bench
  const one = <T>(list: readonly T[]): T => list[random(list.length)] as T
  const tables = await tablesOf(baseId)
  const table = one(tables)
  if (!table) return 'none'
  const { fields, views } = await trpc.schema.table.query({ tableId: table.id })
  const field = one(
    fields.filter((each) => !each.isSystem && !each.isPrimaryKey && each.type !== 'ForeignKey'),
  )
  const view = one(views)
  const path = `/api/v2/tables/${table.id}/records`
  const title = `N${random(1_000_000)}`
  const rows: { Id: number }[] = (await rest.get(`${path}?limit=50`)).body.list
  const trash = (await trpc.trash.list.query({ baseId })).items.map(({ ref }) => ref)
  const trashedTable = one(trash.flatMap((ref) => (ref.kind === 'table' ? ref.tableId : [])))
  const trashedField = one(trash.flatMap((ref) => (ref.kind === 'field' ? ref.fieldId : [])))
  const writable = fields.filter(({ type }) =>
    ['SingleLineText', 'LongText', 'Number', 'SingleSelect'].includes(type),
  )
  const written = one(writable)
  const value =
    written?.type === 'Number'
      ? random(99)
      : written?.type === 'SingleSelect'
        ? one(['open', 'paid', null])
        : title
  const changes: Record<string, () => Promise<unknown>> = {
    insert: () => rest.post(path, { [written?.title ?? 'Title']: value }),
    update: () => rest.patch(path, { Id: one(rows)?.Id, [written?.title ?? 'Title']: value }),
    update2: () => rest.patch(path, { Id: one(rows)?.Id, [written?.title ?? 'Title']: null }),
    remove: () => rest.delete(path, { Id: one(rows)?.Id }),
    rename: () => updateField(field?.id ?? '', { title }),
    retype: () =>
      updateField(field?.id ?? '', {
        type: one(['SingleLineText', 'LongText', 'Number', 'SingleSelect', 'Checkbox']),
      }),
    unique: () => updateField(field?.id ?? '', { unique: random(2) === 0, required: random(2) === 0 }),
    dropField: () => trpc.schema.deleteField.mutate({ fieldId: field?.id ?? '' }),
    addField: () =>
      trpc.schema.createField.mutate({
        tableId: table.id,
        field: { title, type: one(['SingleLineText', 'Number', 'AutoNumber']) },
      }),
    addLink: () =>
      trpc.schema.createField.mutate({
        tableId: table.id,
        field: {
          title,
          type: 'Links',
          options: { kind: one(['mm', 'hm', 'bt', 'oo']), relatedTableId: one(tables).id },
        } as never,
      }),
    toLink: () =>
      updateField(field?.id ?? '', {
        type: 'Links',
        options: { kind: one(['mm', 'bt']), relatedTableId: one(tables).id },
      }),
    link: () => {
      const links = fields.filter(isLink)
      const operation = {
        kind: one(['link', 'unlink']),
        tableId: table.id,
        fieldId: one(links)?.id,
        id: one(rows)?.Id,
        targets: [1 + random(3)],
      }
      return trpc.records.write.mutate({ change: { baseId, operations: [operation as never] } })
    },
    display: () => trpc.schema.setDisplayField.mutate({ fieldId: field?.id ?? '' }),
    tableTitle: () => trpc.schema.updateTable.mutate({ tableId: table.id, title }),
    order: () =>
      trpc.schema.reorderTable.mutate({ tableId: table.id, before: random(2) === 0 ? null : one(tables).id }),
    dropTable: () => trpc.schema.deleteTable.mutate({ tableId: table.id }),
    addTable: () => bench.table({ Title: 'SingleLineText', Qty: 'Number' }, [{ Title: title }]),
    viewTitle: () =>
      trpc.views.update.mutate({
        viewId: view?.id ?? '',
        patch: { title, rowHeight: one(['tall', 'short']) },
      }),
    filter: () =>
      trpc.views.update.mutate({
        viewId: view?.id ?? '',
        patch: { filter: { fieldId: field?.id ?? '', operator: 'notblank' } },
      }),
    arrange: () =>
      trpc.views.arrange.mutate({
        viewId: view?.id ?? '',
        fields: [{ fieldId: field?.id ?? '', width: 100 + random(99) }],
      }),
    addView: () =>
      trpc.views.create.mutate({ tableId: table.id, title, kind: one(['grid', 'gallery', 'kanban']) }),
    dropView: () => trpc.views.delete.mutate({ viewId: view?.id ?? '' }),
    undo,
    undo2: undo,
    redo: () => trpc.records.redo.mutate({ baseId }),
    restoreTable: () => trpc.schema.restoreTable.mutate({ tableId: trashedTable ?? '' }),
    restoreField: () => trpc.schema.restoreField.mutate({ fieldId: trashedField ?? '' }),
  }
  const name = one(Object.keys(changes))
  const isDone = await changes[name]!().then(
    () => true,
    () => false,
  )
  return `${name} ${table.title} ${field?.title} ${isDone}`
}

describe('restoring a base to a time', () => {
  test('brings back tables, fields and views that were deleted since, with records, and leaves out those created since', async () => {
    const { orders, customers, numberId } = await fill()
    const { trpc, rest } = bench
    await expectBack(async () => {
      await rest.patch(orders.path, { Id: 1, Title: 'changed', Qty: 100 })
      await rest.delete(customers.path, { Id: 2 })
      await trpc.schema.deleteTable.mutate({ tableId: customers.id })
      await trpc.views.delete.mutate({ viewId: (await viewOf(orders, 'Open')).id })
      await rest.patch(orders.path, [
        { Id: 2, Qty: null },
        { Id: 4, Qty: 4 },
      ])
      await trpc.schema.deleteField.mutate({ fieldId: orders.field('Qty').id })
      // Deleted with the value of a deleted field, which the log has under the name of its column.
      for (const Id of [1, 2, 4]) await rest.delete(orders.path, { Id })
      await trpc.schema.deleteField.mutate({ fieldId: numberId })
      const later = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'since' }])
      await trpc.schema.createField.mutate({
        tableId: orders.id,
        field: { title: 'Later', type: 'Links', options: { kind: 'hm', relatedTableId: later.id } } as never,
      })
      await trpc.schema.createField.mutate({
        tableId: orders.id,
        field: { title: 'Qty', type: 'Number', defaultValue: 3 },
      })
      await trpc.views.create.mutate({ tableId: orders.id, title: 'Open', kind: 'gallery' })
      await rest.post(orders.path, { Title: 'o5', Code: 'a' })
    })
  })

  test('brings back titles and settings of tables, fields and views', async () => {
    const { orders, customers, ownerId } = await fill()
    const { trpc, rest } = bench
    const status = orders.field('Status')
    await expectBack(async () => {
      await updateField(ownerId, { required: true, title: 'Owned by' })
      const meta = { note: 'of a client' }
      expect((await rest.patch(`/api/v2/meta/columns/${ownerId}`, { meta })).status).toBe(200)
      await trpc.schema.updateTable.mutate({
        tableId: orders.id,
        title: 'Renamed',
        description: 'New',
        meta: { icon: '📦' },
      })
      await trpc.schema.reorderTable.mutate({ tableId: customers.id, before: null })
      await trpc.schema.updateTable.mutate({ tableId: customers.id, title: orders.title })
      await updateField(orders.field('Qty').id, {
        title: 'Amount',
        required: true,
        options: { decimals: 2 },
        defaultValue: 7,
      })
      await updateField(orders.field('Title').id, { title: 'Qty', description: 'Text' })
      await updateField(orders.field('Code').id, { unique: false })
      await rest.patch(orders.path, { Id: 2, Code: 'a' })
      const open = await viewOf(orders, 'Open')
      const board = await viewOf(orders, 'Board')
      await trpc.views.update.mutate({
        viewId: open.id,
        patch: {
          title: 'Others',
          filter: null,
          sorts: [],
          groups: [{ fieldId: status.id, direction: 'asc' }],
          rowHeight: 'tall',
        },
      })
      await trpc.views.arrange.mutate({
        viewId: open.id,
        fields: [
          { fieldId: orders.field('Code').id, show: true, order: 0.5 },
          { fieldId: status.id, width: 99, summary: 'count' },
          { fieldId: orders.field('Tags').id, width: 111 },
        ],
      })
      await trpc.schema.setDisplayField.mutate({ fieldId: orders.field('Code').id })
      await trpc.views.reorder.mutate({ viewId: board.id, before: open.id })
      await trpc.views.hide.mutate({ viewId: open.id, from: ['viewer'] })
    })
  })

  test('brings back options of select fields, with the cells, filters and stacks that name them', async () => {
    const { orders } = await fill()
    const { trpc } = bench
    const status = orders.field('Status')
    await trpc.schema.createField.mutate({
      tableId: orders.id,
      field: {
        title: 'Pay',
        type: 'Button',
        options: { kind: 'update', label: 'Pay', values: { [status.id]: 'open' } },
      } as never,
    })
    const form = await trpc.views.create.mutate({ tableId: orders.id, title: 'Form', kind: 'form' })
    await trpc.views.arrange.mutate({
      viewId: form.id,
      fields: [
        { fieldId: status.id, show: true, form: { ...asked, limitOptions: ['open'], defaultValue: 'open' } },
      ],
    })
    const [open, paid, sent] = status.options.choices as { id: string; title: string; color: string }[]
    await expectBack(async () => {
      await updateField(status.id, { options: { choices: [{ ...open, title: 'new' }, paid, sent] } })
      await bench.rest.patch(orders.path, { Id: 4, Status: 'new' })
      await updateField(status.id, { options: { choices: [{ ...open, title: 'newer' }, sent] } })
      await updateField(status.id, { options: { choices: [sent] } })
      await bench.rest.patch(orders.path, { Id: 3, Status: null })
    })
  })

  test('brings back the types of fields with their values', async () => {
    const { orders, linkId } = await fill()
    const { rest, trpc } = bench
    await expectBack(async () => {
      await rest.patch(orders.path, [
        { Id: 2, Qty: 50 },
        { Id: 4, Qty: 4 },
      ])
      await updateField(orders.field('Qty').id, { type: 'SingleLineText' })
      await rest.patch(orders.path, [
        { Id: 1, Qty: 'one' },
        { Id: 2, Qty: 'two' },
        { Id: 3, Qty: null },
      ])
      for (const Id of [1, 4]) await rest.delete(orders.path, { Id })
      await updateField(orders.field('Qty').id, { type: 'Checkbox' })
      await updateField(orders.field('Code').id, { type: 'LongText' })
      await rest.patch(orders.path, { Id: 2, Code: 'c' })
      await updateField(orders.field('Tags').id, { type: 'SingleLineText' })
      await trpc.schema.deleteField.mutate({ fieldId: linkId })
    })
  })

  test('brings back a field that has become a link, and a formula that has become a field', async () => {
    const { orders, customers } = await fill()
    const double = (await bench.trpc.schema.table.query({ tableId: orders.id })).fields.find(
      ({ title }) => title === 'Double',
    )
    await bench.rest.patch(orders.path, [
      { Id: 1, Code: 'Ada' },
      { Id: 3, Code: 'Bea' },
    ])
    await expectBack(async () => {
      await updateField(orders.field('Code').id, { unique: false })
      await updateField(orders.field('Code').id, {
        type: 'Links',
        options: { kind: 'mm', relatedTableId: customers.id },
      })
      await bench.rest.delete(orders.path, { Id: 3 })
      await updateField(double?.id ?? '', { type: 'Number' })
      await bench.rest.patch(orders.path, { Id: 1, Double: 1 })
    })
  })

  test('brings back links of every kind, and the places of records', async () => {
    const { orders, customers, linkId, ownerId, twinId } = await fill()
    const { rest, trpc, baseId } = bench
    const board = await viewOf(orders, 'Board')
    const write = (...operations: object[]) =>
      trpc.records.write.mutate({ change: { baseId, operations: operations as never } })
    await write({ kind: 'move', tableId: orders.id, viewId: board.id, ids: [3], before: 1 })
    await expectBack(async () => {
      await write(
        { kind: 'move', tableId: orders.id, viewId: board.id, ids: [2], before: 3 },
        { kind: 'unlink', tableId: orders.id, fieldId: linkId, id: 1, targets: [1] },
        { kind: 'link', tableId: orders.id, fieldId: ownerId, id: 1, targets: [2] },
        { kind: 'link', tableId: orders.id, fieldId: twinId, id: 1, targets: [2] },
      )
      await trpc.views.delete.mutate({ viewId: board.id })
      for (const fieldId of [linkId, ownerId, twinId]) await trpc.schema.deleteField.mutate({ fieldId })
      await rest.delete(customers.path, { Id: 2 })
      await rest.delete(orders.path, [{ Id: 1 }, { Id: 4 }])
      await trpc.schema.createField.mutate({
        tableId: orders.id,
        field: {
          title: 'Owner',
          type: 'Links',
          options: { kind: 'bt', relatedTableId: customers.id },
        } as never,
      })
      await trpc.schema.deleteTable.mutate({ tableId: orders.id })
    })
  })

  test('takes back what was undone, redone and restored since', async () => {
    const { orders, customers } = await fill()
    const { trpc, rest } = bench
    const open = await viewOf(orders, 'Open')
    await trpc.schema.updateTable.mutate({ tableId: orders.id, title: 'Renamed' })
    await trpc.views.update.mutate({ viewId: open.id, patch: { title: 'Others', rowHeight: 'tall' } })
    await updateField(orders.field('Qty').id, { type: 'SingleLineText' })
    await trpc.schema.createField.mutate({ tableId: orders.id, field: { title: 'Undone', type: 'Number' } })
    await trpc.schema.createTable.mutate({ baseId: bench.baseId, title: 'Undone too' })
    const undone = await trpc.views.create.mutate({ tableId: orders.id, title: 'Created', kind: 'grid' })
    await trpc.views.update.mutate({ viewId: undone.id, patch: { rowHeight: 'extra' } })
    const extra = await bench.table()
    await trpc.schema.deleteTable.mutate({ tableId: extra.id })
    await expectBack(async () => {
      await trpc.schema.restoreTable.mutate({ tableId: extra.id })
      await undo()
      for (let times = 0; times < 8; times++) await undo()
      expect((await tablesOf(bench.baseId)).map(({ title }) => title)).not.toContain('Undone too')
      await rest.patch(orders.path, { Id: 1, Qty: 77 })
      await trpc.schema.deleteTable.mutate({ tableId: customers.id })
      await undo()
      await trpc.records.redo.mutate({ baseId: bench.baseId })
      await trpc.schema.restoreTable.mutate({ tableId: customers.id })
      await trpc.schema.deleteField.mutate({ fieldId: orders.field('Status').id })
      await trpc.schema.restoreField.mutate({ fieldId: orders.field('Status').id })
    })
  })

  test('leaves out comments and webhooks created since, and names what it cannot bring back', async () => {
    const { orders, customers } = await fill()
    const { trpc, rest, baseId } = bench
    const write = (text: string) => trpc.comments.create.mutate({ tableId: orders.id, recordId: 1, text })
    const hook = (title: string) =>
      trpc.hooks.create.mutate({
        tableId: orders.id,
        title,
        event: 'manual',
        operations: [],
        isActive: true,
        channel: { type: 'URL', payload: { path: 'https://example.com/hook' } },
      })
    const [kept, edited] = [await write('kept'), await write('as it was')]
    await hook('Stays')
    const changed = await hook('Changes')
    const at = await momentNow()
    await write('later')
    await trpc.comments.update.mutate({ commentId: edited.id, text: 'edited' })
    await trpc.comments.resolve.mutate({ commentId: kept.id, isResolved: true })
    await hook('Later')
    await trpc.hooks.update.mutate({ hookId: changed.id, patch: { title: 'Changed' } })
    await rest.delete(orders.path, { Id: 2 })
    const open = await viewOf(orders, 'Open')
    await trpc.views.delete.mutate({ viewId: open.id })
    await trpc.schema.deleteField.mutate({ fieldId: orders.field('Qty').id })
    await trpc.schema.deleteTable.mutate({ tableId: customers.id })
    await trpc.trash.empty.mutate({ baseId })
    const restored = await restoreTo(at)
    const [table, ...others] = await tablesOf(restored.baseId)
    expect([table?.title, others]).toEqual([orders.title, []])
    const tableId = table?.id ?? ''
    const { comments } = await trpc.comments.list.query({ tableId, recordId: 1 })
    expect(comments).toMatchObject([{ text: 'kept', resolvedBy: null }, { text: 'edited' }])
    expect((await trpc.hooks.list.query({ tableId })).map(({ title }) => title)).toEqual(['Stays', 'Changed'])
    expect(restored.notRewound).toEqual(
      expect.arrayContaining([
        { kind: 'table', title: customers.title, reason: 'purged' },
        { kind: 'field', title: `${orders.title}.Qty`, reason: 'purged' },
        { kind: 'view', title: `${orders.title}.Open`, reason: 'purged' },
        { kind: 'records', title: orders.title, reason: 'purged', count: 1 },
        { kind: 'comments', title: orders.title, reason: 'changed', count: 1 },
        { kind: 'webhook', title: `${orders.title}.Changed`, reason: 'changed' },
      ]),
    )
  })

  test('brings back every state of a base that changed at random', async () => {
    await fill()
    const random = seeded(Number(process.env.REWIND_SEED ?? 1))
    const moments: { at: string; state: unknown; done: string[] }[] = []
    const done: string[] = []
    for (let round = 0; round < MOMENTS; round++) {
      moments.push({ state: await picture(bench.baseId), at: await momentNow(), done: [...done] })
      for (let step = 0; step < 12; step++) done.push(await changeSomething(random))
    }
    for (const { at, state, done: before } of moments) {
      const { baseId, notRewound } = await restoreTo(at)
      const later = JSON.stringify(done.slice(before.length))
      expect([later, await picture(baseId), notRewound]).toEqual([later, state, []])
    }
  })

  test('names fields and tables of which the log does not tell how they were', async () => {
    const { orders } = await fill()
    const { trpc, baseId, app } = bench
    await trpc.schema.updateTable.mutate({ tableId: orders.id, description: 'As it was' })
    const engine = await app.kernel.sources.engine(baseId)
    const [described] = (await trpc.records.actions.query({ baseId, limit: 1 })).actions
    const status = orders.field('Status')
    const [first, ...others] = status.options.choices as { title: string }[]
    await updateField(status.id, { options: { choices: [{ ...first, title: 'new' }, ...others] } })
    const at = await momentNow()
    await undo()
    await undo()
    await removeEntries(engine, described?.id ?? 0)
    const { notRewound } = await restoreTo(at)
    expect(notRewound).toEqual([
      { kind: 'field', title: `${orders.title}.Status`, reason: 'changed' },
      { kind: 'table', title: orders.title, reason: 'changed' },
    ])
  })

  test('leaves tables of connected databases as they are, and names those that were changed since', async () => {
    const { orders } = await fill()
    const { trpc, rest, baseId } = bench
    const foreign = await createForeign('mariadb', [
      'create table part (id int auto_increment primary key, name varchar(50))',
      'create table other (id int auto_increment primary key, name varchar(50))',
    ])
    try {
      await connect(bench, foreign.sent)
      const part = (await tablesOf(baseId)).find(({ title }) => title.toLowerCase() === 'part')
      const at = await momentNow()
      await rest.post(`/api/v2/tables/${part?.id}/records`, { name: 'since' })
      await trpc.schema.updateTable.mutate({ tableId: part?.id ?? '', title: 'Parts' })
      await trpc.schema.deleteTable.mutate({ tableId: orders.id })
      const restored = await restoreTo(at)
      const titles = (await tablesOf(restored.baseId)).map(({ title }) => title)
      expect(titles).toEqual(expect.arrayContaining([orders.title, 'Parts']))
      expect(restored.notRewound).toEqual([{ kind: 'table', title: 'Parts', reason: 'connected' }])
    } finally {
      await trpc.bases.delete.mutate({ baseId })
      await foreign.stop()
    }
  })

  test('rewinds the first backup after the time as well, whatever has been deleted forever since', async () => {
    const { orders, customers } = await fill()
    const { trpc, rest, baseId } = bench
    await trpc.backups.save.mutate(settingsOf(place))
    const before = await picture(baseId)
    const at = await momentNow()
    await trpc.schema.deleteField.mutate({ fieldId: orders.field('Qty').id })
    await updateField(orders.field('Code').id, { type: 'LongText' })
    await trpc.schema.updateTable.mutate({ tableId: orders.id, title: 'Renamed' })
    expect(await end((await trpc.backups.run.mutate()).jobId)).toMatchObject({ status: 'completed' })
    await rest.delete(orders.path, { Id: 2 })
    await trpc.schema.deleteTable.mutate({ tableId: customers.id })
    await trpc.bases.delete.mutate({ baseId })
    await trpc.trash.purgeBase.mutate({ baseId })
    const restored = await restoreTo(at)
    expect(await picture(restored.baseId)).toEqual(before)
    expect(restored.notRewound).toEqual([])
  })
})
