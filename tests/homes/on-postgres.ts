import { afterAll } from 'bun:test'

/**
 * Runs a test file once more, with the base's home and the metadata in PostgreSQL.
 *
 * @param file below `tests`, without `.test.ts`
 */
export async function onPostgres(file: string): Promise<void> {
  process.env.TEST_HOME = 'postgres'
  afterAll(() => {
    delete process.env.TEST_HOME
  })
  // Under another address it is read anew, even where it has run before.
  await import(`../${file}.test.ts?home=postgres`)
}
