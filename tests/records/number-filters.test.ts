import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createTestApp, META_DATABASES } from '../support/app.ts'
import { createBase } from '../support/factories.ts'
import { type Bench, benchOf, type TestTable } from './support.ts'

describe.each([...META_DATABASES])('numbers that a whole number is compared with, home in %s', (database) => {
  let bench: Bench
  let table: TestTable
  beforeAll(async () => {
    const app = await createTestApp({ database })
    const owner = await app.signUp()
    bench = benchOf(app, owner, (await createBase(app, owner)).id)
    const rows = [1, 2, 3].map((value) => ({
      Number: value,
      Rating: value,
      Year: 2000 + value,
      Part: value / 2,
    }))
    table = await bench.table(
      { Title: 'SingleLineText', Number: 'Number', Rating: 'Rating', Year: 'Year', Part: 'Decimal' },
      rows,
    )
  })
  afterAll(() => bench.stop())

  test.each([
    ['(Number,gt,1.5)', [2, 3]],
    ['(Number,lt,-0.5)', []],
    ['(Number,le,1e308)', [1, 2, 3]],
    ['(Number,gt,-1e308)', [1, 2, 3]],
    ['(Number,lt,10000000000000000000)', [1, 2, 3]],
    ['(Number,eq,1.5)', []],
    ['(Number,neq,1.5)', [1, 2, 3]],
    ['(Number,in,1.5,2)', [2]],
    ['(Rating,ge,2.5)', [3]],
    ['(Year,lt,2001.5)', [1]],
    ['(Id,gt,2.5)', [3]],
    ['(Part,eq,1.5)', [3]],
    ['(Part,lt,1e308)', [1, 2, 3]],
  ])('%s', async (where, ids) => {
    const rows = await table.list(`?where=${encodeURIComponent(where)}`)
    expect(rows.map(({ Id }) => Id)).toEqual(ids)
  })
})
