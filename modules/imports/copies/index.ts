import type { Actor, UserActor } from '../../../src/core/actor.ts'
import { AppError } from '../../../src/core/errors.ts'
import { createId } from '../../../src/core/ids.ts'
import type { Kernel } from '../../../src/kernel.ts'
import type { AuthService } from '../../auth/index.ts'
import type { BasesService } from '../../bases/index.ts'
import type { RecordsService } from '../../records/index.ts'
import type { SchemaService } from '../../schema/index.ts'
import type { ViewsService } from '../../views/index.ts'
import { COPY_JOB, type CopyInput, createCopyJob } from './copy-job.ts'

export interface CopyOptions {
  /** Absent: `Shop copy`. */
  title?: string
  withData?: boolean
  withViews?: boolean
}

interface Deps {
  kernel: Kernel
  auth: Pick<AuthService, 'access' | 'visitors'>
  bases: BasesService
  schema: SchemaService
  views: ViewsService
  records: RecordsService
}

export type Copies = ReturnType<typeof createCopies>

/** Copies of bases, made by jobs. */
export function createCopies({ kernel, auth, bases, schema, views, records }: Deps) {
  kernel.jobs.register(COPY_JOB, createCopyJob({ kernel, bases, schema, views, records }))

  async function start(
    owner: UserActor,
    baseId: string,
    { title, withData = true, withViews = true }: CopyOptions,
    isVisitor: boolean,
  ): Promise<{ jobId: string; baseId: string }> {
    const original = await bases.require(baseId)
    const newBaseId = createId('base')
    const input: CopyInput = {
      ...{ owner, baseId, newBaseId, withData, withViews, isVisitor },
      title: await bases.copies.freeTitle(title?.trim() || `${original.title} copy`),
    }
    const job = await kernel.jobs.start(COPY_JOB, { userId: owner.id, baseId, input })
    return { jobId: job.id, baseId: newBaseId }
  }

  return {
    /** Copies a base for someone who may change it. @throws BASE_NOT_FOUND, PERMISSION_DENIED */
    async base(actor: Actor, baseId: string, options: CopyOptions) {
      await bases.enter(actor, 'base.duplicate', baseId)
      return start(requireUser(actor), baseId, options, false)
    },

    /**
     * Copies a shared base into the bases of someone who is signed in and has the link.
     *
     * @throws BASE_NOT_FOUND, INVALID_SHARED_VIEW_PASSWORD, TOO_MANY_REQUESTS, PERMISSION_DENIED
     */
    async sharedBase(
      actor: Actor,
      { shareId, password, address }: { shareId: string; password: string | null; address: string },
      options: CopyOptions,
    ) {
      await auth.access.authorize(actor, 'base.create')
      const user = requireUser(actor)
      const { baseId } = await auth.visitors.enter('base', shareId, password, address)
      return start(user, baseId, options, true)
    },
  }
}

function requireUser(actor: Actor): UserActor {
  if (actor.kind === 'user') return actor
  throw new AppError('AUTHENTICATION_REQUIRED', 'Authentication required - Invalid token')
}
