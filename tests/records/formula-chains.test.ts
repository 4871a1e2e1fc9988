import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createLink } from './links-support.ts'
import { type Bench, createBench, refusalOf, type TestTable } from './support.ts'

/** Most formulas that a test lets stand on each other. */
const MANY = 60

describe('formulas that stand on each other', () => {
  let bench: Bench
  beforeAll(async () => {
    bench = await createBench()
  })
  afterAll(() => bench.stop())

  const add = (table: TestTable, title: string, type: 'Formula' | 'Lookup', options: object) =>
    bench.trpc.schema.createField.mutate({
      tableId: table.id,
      field: { title, type, options: options as Record<string, unknown> },
    })

  /** Adds formulas, each over the one before it, until one is refused. */
  async function chain(table: TestTable, formula: (previous: string) => string) {
    let previous = table.field('Title').id
    for (let count = 0; count < MANY; count++) {
      const made = add(table, `F${count}`, 'Formula', { formula: formula(`{{${previous}}}`) })
      const refused = await made.then(
        () => null,
        () => refusalOf(made),
      )
      if (refused) return { count, refused }
      previous = (await made).id
    }
    return { count: MANY, refused: null }
  }

  const formulasIn = async (table: TestTable) =>
    Object.entries((await table.list())[0] ?? {}).filter(([title]) => /^F\d/.test(title))

  test.each([
    ['once', (previous: string) => `CONCAT(${previous}, "")`, 10],
    [
      'three times',
      (previous: string) => `IF(${previous} = "a", ${previous}, CONCAT("not ", ${previous}))`,
      10,
    ],
    [
      'ten times',
      (previous: string) => `IF(AND(${Array(9).fill(`${previous} = "a"`).join(', ')}), ${previous}, "no")`,
      5,
    ],
  ])(
    'give what they mean, however deep, where each names the one before it %s; one too many is refused',
    async (_, formula, atLeast) => {
      const table = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'a' }])
      const { count, refused } = await chain(table, formula)
      expect(count).toBeGreaterThanOrEqual(atLeast)
      const drafted = await bench.trpc.schema.checkFormula.query({
        tableId: table.id,
        formula: formula(`{F${count - 1}}`),
      })
      expect(drafted.ok).toBe(refused === null)
      if (refused)
        expect(refused).toMatchObject({
          status: 400,
          message: expect.stringContaining('including the fields it uses'),
        })
      const values = await formulasIn(table)
      expect(values).toHaveLength(count)
      expect(values.filter(([, value]) => value !== 'a')).toEqual([])
    },
  )

  test('say that they are too deep where a field below grows, and are whole again without it', async () => {
    const table = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'a' }])
    const { count } = await chain(table, (previous) => `IF(${previous} = "a", ${previous}, "no")`)
    const other = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'a' }])
    const link = await createLink(bench, table, other, 'bt')
    await link.write('link', 1, [1])
    const first = (await bench.trpc.schema.table.query({ tableId: table.id })).fields.find(
      ({ title }) => title === 'F0',
    )!
    const options = { relationFieldId: link.own.fieldId, targetFieldId: other.field('Title').id }
    const deeper = await add(table, 'Deeper', 'Lookup', options)
    const nested = `IF({{${deeper.id}}} = "a", LOWER(UPPER(CONCAT({{${deeper.id}}}, ""))), "no")`
    await bench.trpc.schema.updateField.mutate({ fieldId: first.id, patch: { options: { formula: nested } } })
    const values = await formulasIn(table)
    expect(values.filter(([, value]) => value !== 'a' && value !== 'ERR')).toEqual([])
    const { fields } = await bench.trpc.schema.table.query({ tableId: table.id })
    for (const [title, value] of values) {
      const error = fields.find((field) => field.title === title)?.error
      expect([title, error === null]).toEqual([title, value === 'a'])
    }
    await bench.trpc.records.undo.mutate({ baseId: bench.baseId })
    expect((await formulasIn(table)).filter(([, value]) => value === 'a')).toHaveLength(count)
  })

  test('leave the table readable where many are large', async () => {
    const table = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'a' }])
    const dates = Array.from({ length: 6 }, (_, index) => `DATEADD({CreatedAt}, ${index}, "month")`).join(
      ', ',
    )
    let refusal = ''
    for (let count = 0; count < 100 && refusal === ''; count++) {
      const made = add(table, `F${count}`, 'Formula', { formula: `IF(CONCAT(${dates}) = "", "no", "a")` })
      refusal = await made.then(
        () => '',
        async () => (await refusalOf(made)).message,
      )
    }
    expect(refusal).toContain('too complex together with')
    expect((await formulasIn(table)).every(([, value]) => value === 'a')).toBe(true)
  })
})
