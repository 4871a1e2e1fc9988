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
      /** How the request authenticated; some routes accept sessions only. */
      via: 'session' | 'token'
      /** Set while the user previews the product in a lower role: see `previewAs`. */
      preview?: Preview
      /** Id shared by several calls that form one user action; undo reverts them together. */
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
  /** The id in the link's URL. */
  shareId: string
  baseId: string
  /** Expiry of the link in ISO form; null: it does not expire. */
  expiresAt: string | null
  grant:
    | { kind: 'base'; role: 'viewer' | 'editor'; mayDownload: boolean }
    | { kind: 'view'; viewId: string; mayDownload: boolean }
    | { kind: 'erd'; sourceId: string }
}

/** The role in which a user previews the product. It only removes rights. */
interface Preview {
  /** Most that they hold in any base. */
  role: BaseRole
  /** They are a super admin, and so would be an owner of every base. */
  isSuper: boolean
}

export type UserActor = Extract<Actor, { kind: 'user' }>

export const ANONYMOUS: Actor = { kind: 'anonymous' }
