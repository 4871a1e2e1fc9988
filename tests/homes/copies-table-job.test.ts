import { onPostgres } from './on-postgres.ts'

await onPostgres('copies/table-job')
