import { describe, expect, test } from 'bun:test'
import { createInsertBatches } from '../../src/db/insert-batches.ts'

const dollars = createInsertBatches({ placeholder: (index) => `$${index + 1}` })
const marks = createInsertBatches({ placeholder: () => '?', head: 'insert or fail into' })
const rows = (count: number, columns = 2) =>
  Array.from({ length: count }, (_, row) =>
    Array.from({ length: columns }, (_, column) => `${row} ${column}`),
  )

describe('the rows of an insert', () => {
  test('are written by one statement, with their own placeholders', () => {
    expect([...dollars('insert into t (a, b) values ($1, $2)', rows(3))]).toEqual([
      { sql: 'insert into t (a, b) values ($1, $2), ($3, $4)', from: 0, size: 2 },
      { sql: 'insert into t (a, b) values ($1, $2)', from: 2, size: 1 },
    ])
    expect([...marks('insert into t (a) values (?)', rows(2, 1))]).toEqual([
      { sql: 'insert or fail into t (a) values (?), (?)', from: 0, size: 2 },
    ])
  })

  test('are each in one statement, in their order, and in few different ones', () => {
    for (const count of [0, 1, 2, 31, 33, 100, 1_000]) {
      const batches = [...marks('insert into t (a, b) values (?, ?)', rows(count))]
      let next = 0
      for (const { sql, from, size } of batches) {
        expect([from, sql.split('(?, ?)').length - 1]).toEqual([next, size])
        next += size
      }
      expect(next).toBe(count)
      expect(new Set(batches.map(({ sql }) => sql)).size).toBeLessThanOrEqual(6)
    }
  })

  test('are fewer in one statement the more columns they have', () => {
    const wide = `insert into t values (${Array.from({ length: 300 }, () => '?').join(', ')})`
    expect([...marks(wide, rows(5, 300))].map(({ size }) => size)).toEqual([2, 2, 1])
  })

  test('are written one by one where the statement does more than insert them', () => {
    for (const sql of [
      'update t set a = ? where b = ?',
      'insert into t (a, b) values (?, ?) on conflict do nothing',
      'insert into t (a, b) values (?, coalesce(?, 1))',
    ])
      expect([...marks(sql, rows(3))].map((batch) => [batch.sql, batch.size])).toEqual([
        [sql, 1],
        [sql, 1],
        [sql, 1],
      ])
  })
})
