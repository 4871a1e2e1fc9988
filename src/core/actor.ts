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
      /** What the caller does in several calls but means as one: undo takes it back in one step. */
      actionId?: string
    }

export type UserActor = Extract<Actor, { kind: 'user' }>

export const ANONYMOUS: Actor = { kind: 'anonymous' }
