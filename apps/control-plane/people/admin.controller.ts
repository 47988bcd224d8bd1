import { Controller, Inject } from '@nestjs/common';
import { AuditReader } from '#people/audit.reader.js';
import { RoleGrants } from '#people/role-grants.js';
import { RolesService } from '#people/roles.service.js';
import { type AnswerOf, type CallOf, Serves } from '../http/route.js';
import { auditRoutes, peopleRoutes } from './admin.routes.js';
import { viewPerson } from './person.view.js';

type PersonView = AnswerOf<typeof peopleRoutes.setDisabled>;

@Controller()
export class AdminController {
  constructor(
    @Inject(RolesService) private readonly service: RolesService,
    @Inject(RoleGrants) private readonly grants: RoleGrants,
    @Inject(AuditReader) private readonly auditLog: AuditReader,
  ) {}

  @Serves(peopleRoutes.list)
  async list({ query }: CallOf<typeof peopleRoutes.list>) {
    const { items, nextCursor } = await this.service.list(query);
    return { items: items.map(viewPerson), nextCursor };
  }

  @Serves(peopleRoutes.setRoles)
  async setRoles({ params, body, ...call }: CallOf<typeof peopleRoutes.setRoles>) {
    const { person, approvalId } = await this.grants.setRoles({ ...call, ...params }, body.roles);
    return { ...viewPerson(person), approvalId };
  }

  @Serves(peopleRoutes.setDisabled)
  async setDisabled({ params, body, ...call }: CallOf<typeof peopleRoutes.setDisabled>) {
    return viewPerson(await this.service.setDisabled({ ...call, ...params }, body.disabled));
  }

  @Serves(peopleRoutes.removeTotp)
  async removeTotp({ params, ...call }: CallOf<typeof peopleRoutes.removeTotp>) {
    return viewPerson(await this.service.removeTotp({ ...call, ...params }));
  }

  @Serves(auditRoutes.list)
  async readAuditLog({ query }: CallOf<typeof auditRoutes.list>) {
    const { items, nextCursor } = await this.auditLog.list(query);
    return {
      items: items.map((line) => ({
        ...line,
        id: String(line.id),
        recordedAt: line.recordedAt.toISOString(),
      })),
      nextCursor,
    };
  }
}
