import { postgresConnection } from '../../src/db/connection.ts'
import { openPostgresDatabase, openPostgresEngine } from '../../src/db/postgres/engine.ts'

/**
 * Begins a write at the first line of its input, says so, and goes on at the second. Then it says what has become of the write:
 * `written`, or the code of its error. Arguments: the address of the database, and `idleInTransactionMs`.
 */

const [url = '', idleMs] = process.argv.slice(2)
const database = openPostgresDatabase(postgresConnection(url), undefined, {
  idleInTransactionMs: Number(idleMs),
})
const lines = console[Symbol.asyncIterator]()
const insert = { sql: 'insert into t values (0)', params: [] }
await lines.next()
const outcome = await openPostgresEngine(database, 'public', 'the test')
  .write(async (tx) => {
    await tx.run(insert)
    console.log('begun')
    await lines.next()
    await tx.run(insert)
    return 'written'
  })
  .catch((error) => error.code)
console.log(outcome)
await database.close()
