import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { FUNCTIONS } from '../../src/core/formula/functions/index.ts'
import type { Field } from '../../src/core/model.ts'
import {
  addRecords,
  createField,
  createTable,
  databases,
  fieldOf,
  freshTitle,
  openWorkshop,
  readTable,
  refusalOf,
  setValue,
  valuesOf,
  type Workshop,
} from './support.ts'

/** The first problem of a refusal, by its places in the text. */
const firstProblem = (details: Record<string, unknown> | undefined) =>
  (details as { problems: [{ type: string; from: number; to: number; path?: string[] }] }).problems[0]

describe.each([...databases])('formula fields with metadata in %s', (database) => {
  let shop: Workshop

  beforeAll(async () => {
    shop = await openWorkshop(database)
  })
  afterAll(() => shop.app.stop())

  async function orders() {
    const schema = await createTable(shop, [
      { type: 'SingleLineText', title: 'Title' },
      { type: 'Decimal', title: 'Price' },
      { type: 'Number', title: 'Amount' },
      { type: 'Date', title: 'Due' },
    ])
    await addRecords(shop, schema, [
      { Title: 'Pen', Price: 1.5, Amount: 4, Due: '2024-03-05' },
      { Title: 'Ink', Price: 0.1, Amount: 3 },
    ])
    const id = (title: string) => fieldOf(schema, title).id
    return { schema, tableId: schema.table.id, id }
  }

  const add = (tableId: string, formula: string, more: object = {}) =>
    createField(shop, tableId, { type: 'Formula', title: freshTitle('F'), options: { formula, ...more } })
  const patch = (field: Pick<Field, 'id'>, options: object) =>
    shop.api.schema.updateField.mutate({ fieldId: field.id, patch: { options: { ...options } } })
  const now = async ({ id, tableId }: Pick<Field, 'id' | 'tableId'>) =>
    (await readTable(shop, tableId)).fields.find((field) => field.id === id)

  describe('schema.createField', () => {
    test('keeps titles as ids and works the value out', async () => {
      const { tableId, id } = await orders()
      const field = await add(tableId, '{Price} * {Amount}')
      expect(field.options.formula).toBe(`{{${id('Price')}}} * {{${id('Amount')}}}`)
      expect(field).toMatchObject({
        error: null,
        columnName: '',
        result: { type: 'Decimal', options: { precision: null, thousands: false }, isList: false },
      })
      expect(await valuesOf(shop, field)).toEqual([6, 0.3].map((value) => expect.closeTo(value, 12)))
    })

    test('gives the type of its result', async () => {
      const { tableId } = await orders()
      const typeOf = async (formula: string) => (await add(tableId, formula)).result?.type
      expect(await typeOf('UPPER({Title})')).toBe('SingleLineText')
      expect(await typeOf('{Amount} > 3')).toBe('Checkbox')
      expect(await typeOf('DATEADD({Due}, 1, "day")')).toBe('Date')
      expect(await typeOf('NOW()')).toBe('DateTime')
      expect(await typeOf('BLANK()')).toBe('SingleLineText')
    })

    test('shows numbers as money, and refuses what does not fit the result', async () => {
      const { tableId } = await orders()
      const display = { type: 'Currency', options: { code: 'EUR', locale: 'de-DE' } }
      const field = await add(tableId, '{Price} * 2', { display })
      expect(field.result).toMatchObject({
        type: 'Currency',
        options: { code: 'EUR', locale: 'de-DE', precision: 2 },
      })
      const refused = await refusalOf(add(tableId, 'UPPER({Title})', { display }))
      expect(refused.message).toBe('A formula that returns a text can’t be shown as Currency')
      const wrong = { type: 'Rating', options: { max: 99 } }
      expect((await refusalOf(add(tableId, '1', { display: wrong }))).status).toBe(400)
    })

    test('says what is wrong with a formula and where, in the text as it was given', async () => {
      const { tableId } = await orders()
      const refused = async (formula: string) => {
        const { message, status, details } = await refusalOf(add(tableId, formula))
        const { type, from, to } = firstProblem(details)
        return { message, status, type, at: formula.slice(from, to) }
      }
      expect(await refused('1 + {Nope}')).toEqual({
        message: 'Invalid column name/id Nope in formula',
        status: 400,
        type: 'INVALID_COLUMN',
        at: '{Nope}',
      })
      expect(await refused('{Price} + NOPE(1)')).toMatchObject({
        message: 'Function NOPE is not available',
        type: 'INVALID_FUNCTION_NAME',
        at: 'NOPE(1)',
      })
      expect((await refused('')).message).toBe('Compound statement is not supported')
      expect((await refused('ROUND({Title})')).status).toBe(400)
      const { message } = await refusalOf(add(tableId, `{{${'c'.repeat(15)}}}`))
      expect(message).toBe('Invalid column name/id ccccccccccccccc in formula')
    })

    test('takes no field of another table', async () => {
      const { tableId } = await orders()
      const other = await orders()
      const { message } = await refusalOf(add(tableId, `{{${other.id('Price')}}}`))
      expect(message).toBe(`Invalid column name/id ${other.id('Price')} in formula`)
    })

    test('offers every function in our own databases', async () => {
      const { tableId } = await orders()
      for (const { name, examples } of FUNCTIONS) {
        const [formula = ''] = Object.keys(examples)
        expect([name, (await add(tableId, formula)).error]).toEqual([name, null])
      }
    })

    test('gives an empty value where a pattern takes too long', async () => {
      const { tableId } = await orders()
      const text = 'REPEAT("a", 50000)'
      const slow = '(a*a*a*a*a*b){20}'
      const began = performance.now()
      const field = await add(tableId, `LEN(REGEX_REPLACE(${text}, "${slow}", "-"))`)
      const values = await valuesOf(shop, field)
      // PostgreSQL does not backtrack, and has no need of a limit on steps.
      expect(values.every((value) => value === 0 || value === 50_000)).toBe(true)
      expect(performance.now() - began).toBeLessThan(60_000)
    })
  })

  describe('schema.updateField', () => {
    test('changes the formula, and takes a display away that fits no more', async () => {
      const { tableId } = await orders()
      const display = { type: 'Percent', options: {} }
      const field = await add(tableId, '{Price}', { display })
      const changed = await patch(field, { formula: 'LOWER({Title})' })
      expect(changed.options.display).toBeNull()
      expect(changed.result?.type).toBe('SingleLineText')
      expect(await valuesOf(shop, field)).toEqual(['pen', 'ink'])
      await shop.api.records.undo.mutate({ baseId: shop.baseId })
      expect(await now(field)).toMatchObject({ options: { display }, result: { type: 'Percent' } })
    })

    test('leaves a formula as it is where only its display changes', async () => {
      const { tableId, id } = await orders()
      const field = await add(tableId, '{Price}')
      const changed = await patch(field, { display: { type: 'Duration', options: { format: 'h:mm' } } })
      expect(changed.options.formula).toBe(`{{${id('Price')}}}`)
      expect(changed.result).toMatchObject({ type: 'Duration', options: { format: 'h:mm' } })
    })

    test('follows a field that is renamed', async () => {
      const { tableId, id } = await orders()
      const field = await add(tableId, '{Price} + 1')
      await shop.api.schema.updateField.mutate({ fieldId: id('Price'), patch: { title: 'Cost' } })
      expect((await now(field))?.options.formula).toBe(`{{${id('Price')}}} + 1`)
      expect(await valuesOf(shop, field)).toEqual([2.5, 1.1])
    })

    test('says it in its formulas where a field becomes of another type', async () => {
      const { tableId, id } = await orders()
      const field = await add(tableId, '{Price} * 2')
      const asText = { fieldId: id('Price'), patch: { type: 'SingleLineText' as const } }
      await shop.api.schema.updateField.mutate(asText)
      expect(await now(field)).toMatchObject({ error: 'Numeric type is expected', result: null })
      await shop.api.records.undo.mutate({ baseId: shop.baseId })
      expect(await now(field)).toMatchObject({ error: null, result: { type: 'Decimal' } })
    })

    test('refuses a formula that reads itself, naming the way', async () => {
      const { tableId, id } = await orders()
      const first = await add(tableId, '{Price} + 1')
      const second = await add(tableId, `{${first.title}} + 1`)
      const self = await refusalOf(patch(first, { formula: `{${first.title}}` }))
      expect(self.message).toBe('Circular reference detected')
      const refused = await refusalOf(patch(first, { formula: `{Amount} + {${second.title}}` }))
      expect(refused).toMatchObject({ message: 'Circular reference detected', status: 400 })
      expect(firstProblem(refused.details).path).toEqual([first.title, second.title, first.title])
      expect((await now(first))?.options.formula).toBe(`{{${id('Price')}}} + 1`)
    })
  })

  describe('schema.deleteField', () => {
    test('names what is missing, and heals with an undo', async () => {
      const { tableId, id } = await orders()
      const field = await add(tableId, '{Price} + 1')
      const above = await add(tableId, `{${field.title}} * 2`)
      const dependents = await shop.api.schema.dependents.query({ fieldId: id('Price') })
      expect(dependents.every(({ effect }) => effect === 'broken')).toBe(true)
      expect(new Set(dependents.map(({ id: each }) => each))).toEqual(new Set([field.id, above.id]))
      await shop.api.schema.deleteField.mutate({ fieldId: id('Price') })
      expect(await now(field)).toMatchObject({ error: "Column 'Price' was deleted", result: null })
      expect(await now(above)).toMatchObject({ error: "Column 'Price' was deleted" })
      expect(await valuesOf(shop, above)).toEqual([null, null])
      await shop.api.records.undo.mutate({ baseId: shop.baseId })
      expect(await now(above)).toMatchObject({ error: null })
      expect(await valuesOf(shop, above)).toEqual([5, 2.2])
    })
  })

  describe('another type', () => {
    const turn = (field: Field, type: 'Decimal' | 'SingleLineText' | 'Checkbox' | 'Links') =>
      shop.api.schema.updateField.mutate({ fieldId: field.id, patch: { type } })
    const undo = () => shop.api.records.undo.mutate({ baseId: shop.baseId })

    test('keeps the values of this moment, after a preview, and undo makes it a formula again', async () => {
      const { tableId, id } = await orders()
      const field = await add(tableId, '{Price} * {Amount}')
      const above = await add(tableId, `{${field.title}} > 1`)
      const preview = { fieldId: field.id, type: 'SingleLineText' as const }
      expect(await shop.api.schema.previewType.query(preview)).toMatchObject({
        total: 2,
        converted: 2,
        lost: 0,
      })
      const frozen = await turn(field, 'Decimal')
      expect(frozen).toMatchObject({ type: 'Decimal', result: null, error: null })
      const price = (await readTable(shop, tableId)).fields.find((one) => one.id === id('Price'))!
      await setValue(shop, price, 1, 100)
      expect((await valuesOf(shop, field))[0]).toBe(6)
      expect(await now(above)).toMatchObject({ error: null })
      await setValue(shop, frozen, 1, 7)
      await undo()
      await undo()
      await undo()
      expect(await now(field)).toMatchObject({ type: 'Formula', error: null, result: { type: 'Decimal' } })
      expect((await valuesOf(shop, field))[0]).toBe(6)
      await shop.api.records.redo.mutate({ baseId: shop.baseId })
      expect(await now(field)).toMatchObject({ type: 'Decimal', result: null })
      expect((await valuesOf(shop, field))[0]).toBe(6)
    })

    test('keeps the values that its editor sees in their time zone, and undo finds them unedited', async () => {
      const schema = await createTable(shop, [
        { type: 'SingleLineText', title: 'Title' },
        { type: 'DateTime', title: 'At' },
      ])
      await addRecords(shop, schema, [{ Title: 'x', At: '2024-03-05 23:30:00+00:00' }])
      const field = await add(schema.table.id, 'DATESTR({At})')
      const timeZone = 'Asia/Tokyo'
      const preview = { fieldId: field.id, type: 'SingleLineText' as const, timeZone }
      expect((await shop.api.schema.previewType.query(preview)).samples).toMatchObject([{ to: '2024-03-06' }])
      const patch = { type: 'SingleLineText' as const }
      await shop.api.schema.updateField.mutate({ fieldId: field.id, patch, timeZone })
      expect(await valuesOf(shop, field)).toEqual(['2024-03-06'])
      await undo()
      expect(await now(field)).toMatchObject({ type: 'Formula' })
      await shop.api.records.redo.mutate({ baseId: shop.baseId })
      expect(await valuesOf(shop, field)).toEqual(['2024-03-06'])
    })

    test('is undone where the formula reads the clock', async () => {
      const { tableId } = await orders()
      const field = await add(tableId, 'DATETIME_DIFF(NOW(), "2024-01-01", "ms")')
      await turn(field, 'Decimal')
      await Bun.sleep(5)
      await undo()
      expect(await now(field)).toMatchObject({ type: 'Formula', error: null })
    })

    test('is refused for what a formula has not, and the other way round', async () => {
      const { tableId, id } = await orders()
      const field = await add(tableId, '{Price} * 2')
      await shop.api.schema.deleteField.mutate({ fieldId: id('Price') })
      const { message, status } = await refusalOf(turn(field, 'Decimal'))
      expect(message).toBe(`“${field.title}” has no values to convert: Column 'Price' was deleted`)
      expect(status).toBe(400)
      const links = { kind: 'mm', relatedTableId: tableId }
      const toLink = { fieldId: field.id, patch: { type: 'Links' as const, options: links } }
      expect((await refusalOf(shop.api.schema.updateField.mutate(toLink))).status).toBe(501)
      const back = shop.api.schema.updateField.mutate({ fieldId: id('Title'), patch: { type: 'Formula' } })
      expect(await refusalOf(back)).toMatchObject({
        status: 501,
        message: 'Updating SingleLineText => Formula is not implemented',
      })
    })
  })

  describe('schema.checkFormula', () => {
    test('gives the type, or every problem with its place', async () => {
      const { tableId } = await orders()
      const check = (formula: string, fieldId?: string) =>
        shop.api.schema.checkFormula.query({ tableId, formula, ...(fieldId && { fieldId }) })
      expect(await check('{Price} > 1')).toMatchObject({
        ok: true,
        type: 'boolean',
        result: { type: 'Checkbox' },
      })
      const bad = await check('{A} + {B}')
      expect(!bad.ok && bad.problems.map(({ from, to }) => [from, to])).toEqual([
        [0, 3],
        [6, 9],
      ])
      const field = await add(tableId, '{Price}')
      expect(await check(`{${field.title}}`, field.id)).toMatchObject({
        ok: false,
        problems: [{ type: 'CIRCULAR_REFERENCE', path: [field.title, field.title] }],
      })
      expect((await refusalOf(check('1', 'cccccccccccccccc'))).code).toBe('FIELD_NOT_FOUND')
      expect((await refusalOf(check('"\u0000"'))).status).toBe(400)
    })
  })

  describe('buttons', () => {
    test('are made bare, take an address, and refuse what is none', async () => {
      const { tableId } = await orders()
      const make = (options: object) =>
        createField(shop, tableId, { type: 'Button', title: freshTitle('B'), options: { ...options } })
      const bare = await make({})
      expect(bare).toMatchObject({ error: null, result: null, options: { kind: 'url', formula: '' } })
      expect(await valuesOf(shop, bare)).toEqual(
        [1, 2].map(() => JSON.stringify({ type: 'url', label: '', url: null })),
      )
      const open = await make({ label: 'Open', formula: 'CONCAT("https://e.com/", {Title})' })
      expect((await valuesOf(shop, open)).map((value) => JSON.parse(String(value)))).toEqual([
        { type: 'url', label: 'Open', url: 'https://e.com/Pen' },
        { type: 'url', label: 'Open', url: 'https://e.com/Ink' },
      ])
      const linked = await make({ formula: 'URL({Title})' })
      expect(JSON.parse(String((await valuesOf(shop, linked))[0])).url).toBe('Pen')
      expect((await refusalOf(make({ formula: '{Price}' }))).message).toBe('String type is expected')
      expect((await refusalOf(make({ kind: 'nope' }))).status).toBe(400)
      const query = { tableId, limit: 10, offset: 0, filter: { fieldId: open.id, operator: 'isBlank' } }
      expect((await refusalOf(shop.api.records.list.query({ query: query as never }))).status).toBeLessThan(
        500,
      )
    })
  })
})
