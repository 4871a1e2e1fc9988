import { Elysia } from 'elysia'
import type { Kernel } from '../../../src/kernel.ts'
import { manageRest, type RestServices } from './manage.ts'
import { publicRest } from './public.ts'

/** Public links: management, and visitors' calls. */
export const sharesRest = (kernel: Kernel, services: RestServices) =>
  new Elysia({ name: 'shares-rest' }).use(manageRest(kernel, services)).use(publicRest(kernel, services))
