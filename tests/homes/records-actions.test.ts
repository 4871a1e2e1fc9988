import { onPostgres } from './on-postgres.ts'

await onPostgres('records/actions')
