import { Elysia } from 'elysia'
import type { Kernel } from '../../src/kernel.ts'
import type { AuthService } from '../auth/index.ts'
import type { RecordsService } from '../records/index.ts'
import type { SchemaService } from '../schema/index.ts'
import type { ViewsService } from '../views/index.ts'
import { manageRest } from './rest-manage.ts'
import { publicRest } from './rest-public.ts'
import type { SharesService } from './service.ts'

/** What the routes of this module are given. */
export interface RestServices {
  auth: AuthService
  schema: SchemaService
  views: ViewsService
  records: RecordsService
  shares: SharesService
}

/** Public links over REST: for those who make them, and for those who come by them. */
export const sharesRest = (kernel: Kernel, services: RestServices) =>
  new Elysia({ name: 'shares-rest' }).use(manageRest(kernel, services)).use(publicRest(kernel, services))
