import type { BaseRole } from './roles.ts'

/** The caller of a service operation, which decides access. */
export type Actor =
  | { kind: 'anonymous' }
  | {
      kind: 'user'
      id: string
      email: string
      /** Organisation roles, e.g. `['org-level-creator', 'super']`. */
      orgRoles: readonly string[]
      /** How the request authenticated; some routes accept sessions only. */
      via: 'session' | 'token'
      /** Set while the user previews the product in a lower role: see `previewAs`. */
      preview?: Preview
      /** Id shared by several calls that form one user action; undo reverts them together. */
      actionId?: string
    }
  | ShareActor

/**
 * A visitor of a public link, limited to the link's rights: for a base those marked `shared` in `roles.ts`, for a view
 * or diagram only reading it. The link is checked on every request.
 */
export interface ShareActor {
  kind: 'share'
  /** The id in the link's URL. */
  shareId: string
  baseId: string
  /** Expiry of the link in ISO 8601; null: never. */
  expiresAt: string | null
  grant:
    | { kind: 'base'; role: 'viewer' | 'editor'; mayDownload: boolean }
    | { kind: 'view'; viewId: string; mayDownload: boolean }
    | { kind: 'erd'; sourceId: string }
}

/** The role in which a user previews the product. It only removes rights. */
interface Preview {
  /** Highest role in any base. */
  role: BaseRole
  /** True for a super admin, who owns every base. */
  isSuper: boolean
}

export type UserActor = Extract<Actor, { kind: 'user' }>

export const ANONYMOUS: Actor = { kind: 'anonymous' }

/** The id of a user, for `created_by` and the log; null for anonymous callers and visitors of public links. */
export const actorIdOf = (actor: Actor): string | null => (actor.kind === 'user' ? actor.id : null)
