import { Elysia } from 'elysia'
import type { Kernel } from '../../../src/kernel.ts'
import { manageRest, type RestServices } from './manage.ts'
import { publicRest } from './public.ts'

/** Public links over REST: for those who make them, and for those who come by them. */
export const sharesRest = (kernel: Kernel, services: RestServices) =>
  new Elysia({ name: 'shares-rest' }).use(manageRest(kernel, services)).use(publicRest(kernel, services))
