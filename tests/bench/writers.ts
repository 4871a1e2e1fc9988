import { connectionShares, DEFAULT_CONNECTIONS } from '../../src/db/postgres/connection-budget.ts'
import { startPostgres } from '../support/postgres.ts'
import { makeRows } from './bare-table.ts'
import { startProgram } from './processes.ts'
import { startProduct } from './product.ts'
import { compete } from './ratios.ts'
import { type Line, lineOf } from './report.ts'

const WRITERS = 50

/**
 * Fifty clients that each add one record after the other to a base in PostgreSQL, against bare prepared inserts over as
 * many connections. Commits wait for the disk on both sides.
 */
export async function measureWriters(rounds: number, seconds: number): Promise<Line> {
  const server = await startPostgres({ isDurable: true })
  try {
    const connections = connectionShares(DEFAULT_CONNECTIONS).writers
    const product = await startProduct(1_000, { DATABASE_URL: server.url })
    const bare = await startProgram('tests/bench/bare-postgres.ts', {}, [server.url, String(connections)])
    try {
      const row = JSON.stringify({ ...makeRows(1)[0], Count: '#n' }).replace('"#n"', '#n')
      const contest = {
        name: `insert one record to PostgreSQL, ${WRITERS} clients`,
        promise: 1 / 3,
        method: 'POST',
        path: product.path,
        body: row,
        connections: WRITERS,
      }
      return lineOf(await compete(contest, product, bare, rounds, seconds))
    } finally {
      await bare.stop()
      await product.stop()
    }
  } finally {
    await server.stop()
  }
}
