import { onPostgres } from './on-postgres.ts'

await onPostgres('wire/links')
