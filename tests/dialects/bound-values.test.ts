import { expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { AppError } from '../../src/core/errors.ts'
import { mysql } from '../../src/dialects/mysql.ts'
import { postgres } from '../../src/dialects/postgres.ts'
import { sqlite } from '../../src/dialects/sqlite.ts'

test.each([sqlite, postgres, mysql])(
  'a statement binds no more values than $client takes',
  ({ render, maxBoundParameters }) => {
    const binding = (count: number) => {
      const values = Array.from({ length: count }, (_, index) => sql`${index}`)
      return () => render(sql`select ${sql.join(values, sql`, `)}`)
    }
    expect(binding(maxBoundParameters)().params).toHaveLength(maxBoundParameters)
    expect(binding(maxBoundParameters + 1)).toThrow(AppError)
  },
)
