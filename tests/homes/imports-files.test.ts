import { onPostgres } from './on-postgres.ts'

await onPostgres('imports/files')
