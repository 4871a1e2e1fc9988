import type { AuthService } from '../../auth/index.ts'
import type { RecordsService } from '../../records/index.ts'
import type { SchemaReader } from '../../schema/index.ts'
import type { ViewsService } from '../../views/index.ts'
import type { SharesService } from '../service.ts'

/** What the routes of this module are given. */
export interface RestServices {
  auth: AuthService
  schema: SchemaReader
  views: ViewsService
  records: RecordsService
  shares: SharesService
}
