import { initTRPC } from '@trpc/server'
import { type TRPC_ERROR_CODE_KEY, TRPC_ERROR_CODES_BY_KEY } from '@trpc/server/rpc'
import { ZodError } from 'zod'
import type { Actor, ShareActor, UserActor } from './core/actor.ts'
import { AppError } from './core/errors.ts'
import type { Log } from './log.ts'
import { m } from './messages.gen.ts'
import type { Metrics } from './metrics/metrics.ts'
import { explainStorage } from './storage-full.ts'

/** Context of each procedure. */
export interface Context {
  actor: Actor
  requestId: string
  log: Log
  /** Null if metrics are off. */
  metrics: Metrics | null
  /** Headers of the response; auth sets its cookie here. */
  responseHeaders: Headers
  request: Request
  /** Address of the client, for throttling. */
  address: string
}

const STATUS_TO_TRPC: Record<number, TRPC_ERROR_CODE_KEY> = {
  400: 'BAD_REQUEST',
  401: 'UNAUTHORIZED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  409: 'CONFLICT',
  413: 'PAYLOAD_TOO_LARGE',
  422: 'UNPROCESSABLE_CONTENT',
  429: 'TOO_MANY_REQUESTS',
  501: 'NOT_IMPLEMENTED',
  503: 'SERVICE_UNAVAILABLE',
}

/** True for a call of the web app. */
export const isCall = ({ url }: Request): boolean => new URL(url).pathname.startsWith('/trpc/')

/**
 * A response to a call, or to several at once, that has not got as far as the router, in the form of its errors: browsers take
 * any other for that of a proxy.
 *
 * @param init `status`: another one than that of the error
 */
export function errorOfCall(error: AppError, { status = error.status, headers = {} } = {}): Response {
  const { message, code: appCode, details } = error
  const code = STATUS_TO_TRPC[status] ?? 'BAD_REQUEST'
  const data = { code, httpStatus: status, appCode, details }
  return Response.json({ error: { message, code: TRPC_ERROR_CODES_BY_KEY[code], data } }, { status, headers })
}

const t = initTRPC.context<Context>().create({
  errorFormatter({ shape, error, ctx }) {
    const cause = explainStorage(error.cause)
    const requestId = ctx?.requestId
    if (cause instanceof AppError) {
      const code = STATUS_TO_TRPC[cause.status] ?? 'INTERNAL_SERVER_ERROR'
      return {
        ...shape,
        message: cause.message,
        data: { code, httpStatus: cause.status, appCode: cause.code, details: cause.details, requestId },
      }
    }
    if (cause instanceof ZodError) {
      const message = cause.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; ')
      const details = { issues: cause.issues.map(({ path, message }) => ({ path: path.join('.'), message })) }
      return {
        ...shape,
        message,
        data: { code: 'BAD_REQUEST', httpStatus: 400, appCode: 'INVALID_REQUEST_BODY', details, requestId },
      }
    }
    const isOurs = error.code === 'INTERNAL_SERVER_ERROR'
    return {
      ...shape,
      message: isOurs ? m.request_error_unexpected() : error.message,
      data: {
        code: error.code,
        httpStatus: shape.data.httpStatus,
        appCode: isOurs ? ('INTERNAL_SERVER_ERROR' as const) : ('BAD_REQUEST' as const),
        details: undefined,
        requestId,
      },
    }
  },
})

export const router = t.router

/** Procedures for everyone, signed in or not; the service checks access. */
export const anyone = t.procedure.use(async ({ ctx, path, next }) => {
  const startedAt = performance.now()
  const result = await next()
  ctx.metrics?.call(path, result.ok, (performance.now() - startedAt) / 1000)
  return result
})

/** Procedures for signed-in users; the service checks their rights. */
export const member = anyone.use(({ ctx, next }) => {
  if (ctx.actor.kind !== 'user') {
    throw new AppError('AUTHENTICATION_REQUIRED', m.wire_error_invalid_token())
  }
  const actor: UserActor = ctx.actor
  return next({ ctx: { ...ctx, actor } })
})

/**
 * Procedures for signed-in users and for visitors of public links; the service checks access. The access test lists the
 * allowed links per procedure.
 */
export const reader = anyone.use(({ ctx, next }) => {
  if (ctx.actor.kind === 'anonymous') {
    throw new AppError('AUTHENTICATION_REQUIRED', m.wire_error_invalid_token())
  }
  const actor: UserActor | ShareActor = ctx.actor
  return next({ ctx: { ...ctx, actor } })
})
