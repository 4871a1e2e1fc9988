import { onPostgres } from './on-postgres.ts'

await onPostgres('imports/export-again')
