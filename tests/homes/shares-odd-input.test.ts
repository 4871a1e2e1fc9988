import { onPostgres } from './on-postgres.ts'

await onPostgres('shares/odd-input')
