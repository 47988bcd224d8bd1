import { Controller } from '@nestjs/common';
import { AuditReader } from '#people/audit.reader.js';
import { RoleGrants } from '#people/role-grants.js';
import { RolesService } from '#people/roles.service.js';
import { Using } from '#platform/wiring.js';
import { type CallOf, Serves } from '../http/route.js';
import { auditRoutes, peopleRoutes } from './admin.routes.js';

@Controller()
export class AdminController extends Using({
  service: RolesService,
  grants: RoleGrants,
  auditLog: AuditReader,
}) {
  @Serves(peopleRoutes.list)
  async list({ query }: CallOf<typeof peopleRoutes.list>) {
    return this.service.list(query);
  }

  @Serves(peopleRoutes.setRoles)
  async setRoles({ params, body, ...call }: CallOf<typeof peopleRoutes.setRoles>) {
    const { person, approvalId } = await this.grants.setRoles({ ...call, ...params }, body);
    return { ...person, approvalId };
  }

  @Serves(peopleRoutes.setDisabled)
  async setDisabled({ params, body, ...call }: CallOf<typeof peopleRoutes.setDisabled>) {
    return this.service.setDisabled({ ...call, ...params }, body.disabled);
  }

  @Serves(peopleRoutes.removeTotp)
  async removeTotp({ params, ...call }: CallOf<typeof peopleRoutes.removeTotp>) {
    return this.service.removeTotp({ ...call, ...params });
  }

  @Serves(auditRoutes.list)
  async readAuditLog({ query }: CallOf<typeof auditRoutes.list>) {
    return this.auditLog.list(query);
  }
}
