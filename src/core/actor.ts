import type { BaseRole } from './roles.ts'

/** Who asks. Every service operation is told, and decides by it. */
export type Actor =
  | { kind: 'anonymous' }
  | {
      kind: 'user'
      id: string
      email: string
      /** Organisation roles, e.g. `['org-level-creator', 'super']`. */
      orgRoles: readonly string[]
      /** How they showed who they are: some routes are for sessions only. */
      via: 'session' | 'token'
      /** They ask to be held to less than they may: see `previewAs`. */
      preview?: Preview
      /** What the caller does in several calls but means as one: undo takes it back in one step. */
      actionId?: string
    }
  | ShareActor

/**
 * A visitor who came by a public link. What they may do is what the link grants and nothing else: of the
 * rights of a base those that are marked `shared` in `roles.ts`, and for a view or a diagram only what reads
 * it. The link is looked at anew for every request.
 */
export interface ShareActor {
  kind: 'share'
  /** What stands in the link. */
  shareId: string
  baseId: string
  /** ISO; from then on the link is closed. Null: until somebody closes it. */
  expiresAt: string | null
  grant:
    | { kind: 'base'; role: 'viewer' | 'editor'; mayDownload: boolean }
    | { kind: 'view'; viewId: string; mayDownload: boolean }
    | { kind: 'erd'; sourceId: string }
}

/** A role that someone previews the product as. It takes rights away and gives none. */
interface Preview {
  /** Most that they hold in any base. */
  role: BaseRole
  /** They are a super admin, and so would be an owner of every base. */
  isSuper: boolean
}

export type UserActor = Extract<Actor, { kind: 'user' }>

export const ANONYMOUS: Actor = { kind: 'anonymous' }
