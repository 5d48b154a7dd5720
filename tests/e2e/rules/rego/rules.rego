# The shared rules in Rego. The packs beside this one say the same in other languages.
package shared

bucket := "aws:s3/bucket:Bucket"

deny_public_acl contains message if {
	input.type == "aws:s3/bucket:Bucket"
	startswith(input.acl, "public")
	message := sprintf("%s has the access %s", [input.__name, input.acl])
}

fix_public_acl := {"acl": "private"} if startswith(input.acl, "public")

deny_unencrypted contains "encrypt the bucket" if {
	input.type == "aws:s3/bucket:Bucket"
	not input.serverSideEncryptionConfiguration
}

deny_unversioned contains "switch versioning on" if {
	input.type == "aws:s3/bucket:Bucket"
	not input.versioning.enabled
}

fix_unversioned := {"versioning.enabled": true} if not input.versioning.enabled

deny_no_team contains "a tag names the team" if {
	input.tags
	not input.tags.team
}

fix_no_team := {"tags.team": data.config.deny_no_team.team} if {
	input.tags
	not input.tags.team
}

warn_no_owner contains "a tag names the owner" if {
	input.tags
	not input.tags.owner
}

deny_bad_name contains message if {
	not regex.match(`^[a-z][a-z0-9-]*$`, input.__name)
	message := sprintf("%s is no name", [input.__name])
}

deny_open_ssh contains "port 22 is open for everybody" if {
	input.type == "aws:ec2/securityGroup:SecurityGroup"
	some rule in input.ingress
	rule.fromPort <= 22
	rule.toPort >= 22
	"0.0.0.0/0" in rule.cidrBlocks
}

deny_large_instance contains message if {
	input.type == "aws:ec2/instance:Instance"
	allowed := data.config.deny_large_instance.allowed
	not input.instanceType in allowed
	message := sprintf("%s is not one of %s", [input.instanceType, concat(", ", allowed)])
}

# METADATA
# custom:
#   severity: critical
deny_unprotected contains "protect the database" if {
	startswith(input.type, "aws:rds/")
	not input.options.protect
}

deny_short_retention contains message if {
	input.type == "aws:rds/instance:Instance"
	days := data.config.deny_short_retention.days
	object.get(input, "backupRetentionPeriod", 0) < days
	message := sprintf("keep backups for %d days", [days])
}

deny_old_tls contains "the version of TLS is too old" if input.minTlsVersion in {"1.0", "1.1"}

containers := input.spec.template.spec.containers

deny_untagged_image contains message if {
	input.type == "kubernetes:apps/v1:Deployment"
	some container in containers
	has_no_version(container.image)
	message := sprintf("%s has an image without a version", [container.name])
}

has_no_version(image) if not contains(image, ":")

has_no_version(image) if endswith(image, ":latest")

deny_privileged contains "a container is privileged" if {
	input.type == "kubernetes:apps/v1:Deployment"
	some container in containers
	container.securityContext.privileged
}

warn_no_limits contains "a container has no limits" if {
	input.type == "kubernetes:apps/v1:Deployment"
	some container in containers
	not container.resources.limits
}

deny_wildcard contains "the policy allows everything" if {
	input.type == "aws:iam/policy:Policy"
	contains(input.policy, `"Action":"*"`)
}

deny_other_region contains message if {
	region := data.config.deny_other_region.region
	input.provider.properties.region != region
	message := sprintf("the region is not %s", [region])
}

deny_http contains "use HTTPS" if {
	input.type == "aws:lb/listener:Listener"
	input.protocol == "HTTP"
}

deny_plain_password contains message if {
	some key, _ in input.environment
	contains(key, "PASSWORD")
	message := sprintf("%s is in the environment", [key])
}

warn_ignored_tags contains "tags are ignored" if "tags" in input.options.ignoreChanges

deny_same_ports contains "a port occurs twice" if count(input.ports) != count({port | some port in input.ports})

deny_weights contains "weights are between 0 and 100" if {
	some weight in input.weights
	not between(weight)
}

between(weight) if {
	weight >= 0
	weight <= 100
}

deny_default_network contains "use a network of your own" if input.vpcId == "default"

deny_no_description contains "describe it" if {
	input.type in ["aws:ec2/securityGroup:SecurityGroup", "aws:iam/policy:Policy"]
	object.get(input, "description", "") in ["", null]
}

deny_much_cpu contains "too much" if input.cpu > 1.5

deny_no_logging contains "switch logging on" if {
	input.settings
	not input.settings.advanced.logging.enabled
}

stack_deny_many_buckets contains message if {
	buckets := [it | some it in input.resources; it.type == bucket]
	count(buckets) > data.config.stack_deny_many_buckets.most
	message := sprintf("there are %d buckets", [count(buckets)])
}

stack_deny_same_network contains "two networks have the same addresses" if {
	some i, j
	input.resources[i].type == "aws:ec2/vpc:Vpc"
	input.resources[j].type == "aws:ec2/vpc:Vpc"
	i < j
	input.resources[i].cidrBlock == input.resources[j].cidrBlock
}

stack_warn_unused_group contains message if {
	some group in input.resources
	group.type == "aws:ec2/securityGroup:SecurityGroup"
	used := {urn | some it in input.resources; some urn in it.dependencies}
	not group.urn in used
	message := sprintf("%s is not used", [group.name])
}

stack_deny_no_logs contains "a bucket called logs is missing" if {
	buckets := {it.name | some it in input.resources; it.type == bucket}
	count(buckets) > 0
	not "logs" in buckets
}

stack_warn_orphan_record contains {"msg": message, "urn": record.urn} if {
	some record in input.resources
	record.type == "aws:route53/record:Record"
	count(record.dependencies) == 0
	message := sprintf("%s depends on nothing", [record.name])
}
