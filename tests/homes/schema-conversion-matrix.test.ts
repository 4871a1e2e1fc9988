import { onPostgres } from './on-postgres.ts'

await onPostgres('schema/conversion-matrix')
