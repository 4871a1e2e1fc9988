import { onPostgres } from './on-postgres.ts'

await onPostgres('shares/base-link-files')
